/** True if the text has more than spaces, control characters, and characters without a width. */
export const isVisible = (text: string): boolean => /[^\p{C}\p{Z}\s]/u.test(text)

/** A name for greetings, without surrounding spaces; null if nothing of it is visible. */
export const visibleName = (name: string | null): string | null => (name !== null && isVisible(name) ? name.trim() : null)
