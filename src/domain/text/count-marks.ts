/** How many characters of a formatted text begin or end something in it: emphasis, links, code, cells. */
export const countMarks = (text: string): number => text.match(/[*_|[`]/g)?.length ?? 0
