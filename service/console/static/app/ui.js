// Preact with templates in place of JSX; every module takes them from here.
import { createContext, createPortal, h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.mjs";
export { createContext, createPortal, h, render };
// Parts that only make elements, marked as plain, are called at once: as components they
// would cost more than their elements, and a table has hundreds.
export const html = htm.bind((type, props, ...children) => (type.isPlain ? type({ ...props, children }) : h(type, props, ...children)));
