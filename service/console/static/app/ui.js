// Preact with templates in place of JSX; every module takes them from here.
import { createContext, h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.mjs";
export { createContext, render };
export const html = htm.bind(h);
