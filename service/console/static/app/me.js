// Who is signed in, and what their roles let them see.
import { call, get } from "./api.js";
import { createContext, useContext } from "./ui.js";

export const Me = createContext(null);
export const useMe = () => useContext(Me);

export const isSuperuser = (me) => me.roles.includes("superuser");
export const seesEverything = (me) => isSuperuser(me) || me.roles.includes("auditor");

export const FOR_AUDITORS = "for superusers and auditors";

// Return the user who is signed in, or null.
export async function whoAmI() {
  const session = await get("/console/session");
  return session.data.signed_in ? (await get("/api/users/me")).data : null;
}

export const signIn = (credential) => call("POST", "/console/session", { body: credential });
export const signOut = () => call("DELETE", "/console/session");
