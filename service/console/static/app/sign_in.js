// Signing in: a token pasted once, or a one-time code in the address.
import { Failure, Field } from "./parts.js";
import { link } from "./route.js";
import { signIn } from "./me.js";
import { html, useEffect, useState } from "./ui.js";

const CODE = "#code=";

export function SignIn({ entered }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const enter = async (credential) => {
    setBusy(true);
    setError(null);
    try {
      await signIn(credential);
      setToken("");
      entered();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  useEffect(() => {
    document.title = "Sign in – Agent Runtime";
    if (!location.hash.startsWith(CODE)) return;
    const code = location.hash.slice(CODE.length);
    // The code leaves the address, and with it the browser's history.
    history.replaceState(null, "", link("overview"));
    if (code) enter({ code });
  }, []);
  const submit = (event) => {
    event.preventDefault();
    enter({ token: token.trim() });
  };
  return html`<main class="sign-in">
    <h1>Agent Runtime</h1>
    <p>Sign in with a token of yours. The browser keeps it in a cookie that no script can read, until it ends, for at most 12 hours.</p>
    <form onSubmit=${submit}>
      <${Field} label="Token" name="token" type="password" value=${token} onValue=${setToken} required=${true} help="It begins with art_. The first one is in the file admin-token of the data folder; later ones come from a superuser, or from agent-runtime token issue." />
      <button type="submit" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
    </form>
    <${Failure} error=${error} />
    <p><a href="/docs">The API without the console</a></p>
  </main>`;
}

