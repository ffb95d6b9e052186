/** Number of characters that start or end Markdown formatting: emphasis, links, code, and cells. */
export const countMarks = (text: string): number => text.match(/[*_|[`]/g)?.length ?? 0
