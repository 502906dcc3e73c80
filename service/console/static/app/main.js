// The console's shell: signing in, navigation, time zone, and the page of the address.
import { forgetKeys, onChange, requestsUnderWay } from "./api.js";
import { PAGES, pageOf } from "./pages.js";
import { Failure, Page } from "./parts.js";
import { forgetNames, namesFor } from "./names.js";
import { PageReads, newReads } from "./reads.js";
import { PageRoute, go, link, setQuery, useRoute } from "./route.js";
import { Me, FOR_AUDITORS, has, seesEverything, signOut, useMe, whoAmI } from "./me.js";
import { SignIn, SignInAgain } from "./sign_in.js";
import { zone, zones } from "./time.js";
import { mayLeave } from "./unsaved.js";
import { createPortal, html, render, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";

const LATE_MS = 250;
// What is done within this time seems to be done at once.
const HELD_MS = 100;

// Shown only for what takes long: its frames would take the time that the page waits for.
function Working() {
  const [busy, setBusy] = useState(false);
  const [late, setLate] = useState(false);
  useEffect(() => onChange(() => setBusy(requestsUnderWay() > 0)), []);
  useEffect(() => {
    const timer = busy ? setTimeout(() => setLate(true), LATE_MS) : setLate(false);
    return () => clearTimeout(timer);
  }, [busy]);
  return html`<div class=${busy && late ? "bar busy" : "bar"} data-busy=${busy ? "true" : "false"} aria-hidden="true"></div>`;
}

// One for all renderings: its hundreds of options aren't compared each time.
const ZONES = html`<${() => zones().map((name) => html`<option value=${name}>${name}</option>`)} />`;

function ZoneChoice() {
  return html`<label class="zone">Time zone
    <select value=${zone()} onChange=${(event) => setQuery({ tz: event.target.value })}>${ZONES}</select>
  </label>`;
}

function Search() {
  const [text, setText] = useState("");
  const find = (event) => {
    event.preventDefault();
    if (text.trim()) go(["find", text.trim()]);
  };
  return html`<form class="search" role="search" aria-label="Find by id" onSubmit=${find}>
    <label><span class="hidden">Id or position</span>
      <input type="search" placeholder="Find an id or position" value=${text} onInput=${(event) => setText(event.target.value)} spellcheck=${false} /></label>
    <button type="submit" class="quiet">Find</button>
  </form>`;
}

function Navigation({ me, current }) {
  const all = seesEverything(me);
  return html`<nav class="pages" aria-label="Console">
    <ul>${PAGES.filter((page) => page.label && has(me, page.needs)).map((page) => html`<li>${page.auditors && !all
      ? html`<span class="off" aria-disabled="true">${page.label}<small>${FOR_AUDITORS}</small></span>`
      : html`<a href=${link(page.path)} aria-current=${page.path === current ? "page" : undefined}>${page.label}</a>`}</li>`)}</ul>
  </nav>`;
}

// The pages' scripts that have been loaded.
const views = new Map();

// Return { View, error } of a page; no view while its script is loaded.
function useView(name, reads) {
  const [, setLoaded] = useState(false);
  const [error, setError] = useState(null);
  useLayoutEffect(() => {
    if (!name || views.has(name)) return;
    reads.expect(import(`../pages/${name}.js`).then((loaded) => {
      views.set(name, loaded.default);
      setLoaded(true);
    }).catch(setError));
  }, [name]);
  return { View: views.get(name), error };
}

function NoPage() {
  return html`<${Page} title="No such page"><p>The address names no page of the console. <a href=${link("overview")}>Go to the overview</a>.</p><//>`;
}

function LeftOut({ capability }) {
  return html`<${Page} title="Page left out">
    <p>This page needs <code>${capability}</code>, an optional capability that this service runs without.</p>
    <p>To have it, the operator takes <code>${capability}</code> out of the setting <code>AGENT_RUNTIME_WITHOUT</code> (or <code>--without</code>), and starts the service again. <a href=${link("overview")}>Go to the overview</a>.</p><//>`;
}

// A page with the list of what it has read, in an element of its own. Calls `ready` once
// it has its first answers, or when they take long. `of` is undefined for no page.
function Whole({ of, route, holder, ready }) {
  const reads = useMemo(newReads, []);
  const me = useMe();
  const name = of && has(me, of.needs) ? of.module : undefined;
  const { View, error } = useView(name, reads);
  useLayoutEffect(() => reads.onceAnswered(ready, HELD_MS), []);
  const page = error
    ? html`<${Failure} error=${{ status: 0, message: "This page's script can't be loaded" }} />`
    : !of ? html`<${NoPage} />`
    : !name ? html`<${LeftOut} capability=${of.needs} />`
    : View ? html`<${View} id=${route.path[1]} rest=${route.path.slice(1)} query=${route.query} />`
    : html`<p class="working" role="status">Loading the page …</p>`;
  return createPortal(html`<${PageRoute.Provider} value=${route}><${PageReads.Provider} value=${reads}>${page}<//><//>`, holder);
}

let pagesMade = 0;
const newPage = () => ({ key: (pagesMade += 1), holder: document.createElement("div") });

// The page of the address. The page before it stays until it is ready: most answers are
// there within a moment, and a page without them would be drawn only to be replaced.
function Pages({ me, main, route }) {
  const place = useRef(null);
  // What had the focus when the page was shown.
  const focused = useRef(null);
  const [shown, setShown] = useState(null);
  const page = useMemo(newPage, [route.path.join("/")]);
  page.whole = useMemo(() => {
    const ready = () => {
      if (place.current.hasChildNodes()) scrollTo(0, 0);
      place.current.replaceChildren(page.holder);
      focused.current = document.activeElement;
      setShown(page);
    };
    page.of = pageOf(route.path);
    return html`<${Whole} key=${page.key} of=${page.of} route=${route} holder=${page.holder} ready=${ready} />`;
  }, [route]);
  // A new page begins at its heading, also for those who don't see it, unless they are
  // somewhere else already: what is typed mustn't get lost.
  const first = useRef(true);
  useEffect(() => {
    if (!shown || first.current) {
      first.current = !shown;
      return undefined;
    }
    const timer = setInterval(() => {
      const heading = shown.holder.querySelector("h1");
      const at = document.activeElement;
      const isElsewhere = at !== document.body && at !== focused.current;
      if (heading && !isElsewhere) heading.focus({ preventScroll: true });
      if (heading || isElsewhere) clearInterval(timer);
    }, 20);
    return () => clearInterval(timer);
  }, [shown]);
  return html`<div class="body">
      <${Navigation} me=${me} current=${shown?.of?.path} />
      <main tabindex="-1" ref=${main}><div ref=${place} aria-busy=${shown === page ? "false" : "true"} /></main>
    </div>
    ${shown !== page && shown?.whole}${page.whole}`;
}

function Console({ me, left }) {
  const route = useRoute();
  const main = useRef(null);
  const [failure, setFailure] = useState(null);
  // The cookie stays until the service deletes it; 401 says that it is worth nothing.
  const leave = async () => {
    if (!mayLeave()) return undefined;
    setFailure(null);
    try {
      await signOut();
    } catch (error) {
      if (error.status !== 401) return setFailure({ ...error, message: `You are still signed in: ${error.message}` });
    }
    return left();
  };
  return html`<${Me.Provider} value=${me}>
    <button type="button" class="skip" onClick=${() => main.current.focus()}>Skip to the page</button>
    <${Working} />
    <header>
      <a class="brand" href=${link("overview")}>Agent Runtime</a>
      <${Search} />
      <${ZoneChoice} />
      <p class="who">Signed in as <a href=${link(["users", me.id])}><bdi>${me.name ?? me.id}</bdi></a>
        ${me.roles.length > 0 && html`<span class="roles"> (${me.roles.join(", ")})</span>`}${" "}
        <button type="button" class="quiet" onClick=${leave}>Sign out</button></p>
      <${Failure} error=${failure} retry=${leave} />
    </header>
    <${Pages} me=${me} main=${main} route=${route} />
  <//>`;
}

function Root() {
  const [me, setMe] = useState(undefined);
  const [ended, setEnded] = useState(false);
  const [error, setError] = useState(null);
  const enter = (user) => {
    if (user?.id !== me?.id) forgetKeys();
    namesFor(user !== null && seesEverything(user));
    setMe(user);
    setEnded(false);
    dispatchEvent(new Event("signed-in"));
  };
  const look = () => {
    setError(null);
    whoAmI().then(enter).catch(setError);
  };
  const entered = async () => {
    const user = await whoAmI();
    if (user === null) throw new Error("The browser hasn't kept the cookie; it needs HTTPS or loopback");
    enter(user);
  };
  useEffect(() => {
    if (location.hash.startsWith("#code=")) setMe(null);
    else look();
    const end = () => setEnded(true);
    addEventListener("signed-out", end);
    return () => removeEventListener("signed-out", end);
  }, []);
  const left = () => {
    forgetNames();
    forgetKeys();
    setMe(null);
  };
  if (error) return html`<main><${Failure} error=${error} retry=${look} /></main>`;
  if (me === undefined) return html`<main><p class="working" role="status">Starting …</p></main>`;
  if (me === null) return html`<${SignIn} entered=${entered} />`;
  // Another user gets another page: nothing of the one before stays.
  return html`<${Console} key=${me.id} me=${me} left=${left} /><${SignInAgain} me=${me} ended=${ended} entered=${entered} />`;
}

render(html`<${Root} />`, document.getElementById("console"));
