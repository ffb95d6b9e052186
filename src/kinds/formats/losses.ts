/** What a file can't be read back without. */
export const losesText = (text: string): string[] => (text.trim() === '' ? ['It has no text: an import refuses it.'] : [])
