// What has been typed and isn't saved: leaving it asks first.
import { useLayoutEffect } from "./ui.js";

const marks = new Set();

export const mayLeave = () => marks.size === 0 || confirm("You have changes that aren't saved. Leave, and lose them?");

// Before the next event, so that a page that was saved can lead to another at once.
export function useUnsaved(isUnsaved) {
  useLayoutEffect(() => {
    if (!isUnsaved) return undefined;
    const mark = {};
    marks.add(mark);
    return () => marks.delete(mark);
  }, [isUnsaved]);
}

addEventListener("beforeunload", (event) => {
  if (marks.size > 0) event.preventDefault();
});
