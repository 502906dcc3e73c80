// Signing in: a token pasted once, or a one-time code in the address.
import { Dialog } from "./actions.js";
import { Failure, Field } from "./parts.js";
import { link } from "./route.js";
import { signIn } from "./me.js";
import { html, useEffect, useState } from "./ui.js";

const CODE = "#code=";

// `entered` returns once it is known who has signed in, or throws.
function TokenForm({ entered, code }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const enter = async (credential) => {
    setBusy(true);
    setError(null);
    try {
      await signIn(credential);
      await entered();
      setToken("");
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  useEffect(() => {
    if (code) enter({ code });
  }, []);
  const submit = (event) => {
    event.preventDefault();
    enter({ token: token.trim() });
  };
  return html`<form onSubmit=${submit}>
      <${Field} label="Token" name="token" type="password" value=${token} onValue=${setToken} required=${true} help="It begins with art_. The first one is in the file admin-token of the data folder; later ones come from a superuser, or from agent-runtime token issue." />
      <button type="submit" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
    </form>
    <${Failure} error=${error} advised=${![401, 403].includes(error?.status)} />`;
}

export function SignIn({ entered }) {
  const [code] = useState(() => (location.hash.startsWith(CODE) ? location.hash.slice(CODE.length) : null));
  useEffect(() => {
    document.title = "Sign in – Agent Runtime";
    // The code leaves the address, and with it the browser's history.
    if (code !== null) history.replaceState(null, "", link("overview"));
  }, []);
  return html`<main class="sign-in">
    <h1>Agent Runtime</h1>
    <p>Sign in with a token of yours. The browser keeps it in a cookie that no script can read, until it ends, for at most 12 hours.</p>
    <${TokenForm} entered=${entered} code=${code} />
    <p><a href="/docs">The API without the console</a></p>
  </main>`;
}

// Over the page, which stays as it is for the user whose session has ended.
export function SignInAgain({ me, ended, entered }) {
  return html`<${Dialog} open=${ended} title="Your session has ended"><div class="sign-in">
    <p>Sign in again as <bdi>${me.name ?? me.id}</bdi>: what you have typed is kept. For another user, the page is read anew without it.</p>
    <${TokenForm} entered=${entered} /></div><//>`;
}
