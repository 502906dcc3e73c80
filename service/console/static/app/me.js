// Who is signed in, what their roles let them see, and what the service runs without.
import { call, get } from "./api.js";
import { createContext, useContext } from "./ui.js";

export const Me = createContext(null);
export const useMe = () => useContext(Me);

export const isSuperuser = (me) => me.roles.includes("superuser");
export const seesEverything = (me) => isSuperuser(me) || me.roles.includes("auditor");

// Whether the service runs with a capability: otherwise what that does is answered with
// 404, so nothing of it may be offered, or asked for. True for a page that needs none.
export const has = (me, capability) => !me.left_out.includes(capability);

export const FOR_AUDITORS = "for superusers and auditors";

// Return the user who is signed in, with `left_out` of the service; or null.
export async function whoAmI() {
  const { signed_in, left_out } = (await get("/console/session")).data;
  return signed_in ? { ...(await get("/api/users/me")).data, left_out } : null;
}

export const signIn = (credential) => call("POST", "/console/session", { body: credential });
export const signOut = () => call("DELETE", "/console/session");
