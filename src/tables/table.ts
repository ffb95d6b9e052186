// Tables of CSV and XLSX files, before their columns get meanings.

/**
 * @property line line of the file, or row of the sheet.
 * @property cells texts as the spreadsheet shows them.
 * @property numbers plain decimals of cells that are shown formatted, by column: `0.5` for `50%`.
 * @property faults why a cell, or with `column` null the row, can't be read: sentences.
 * @property merged columns that get their text from a merged cell above.
 */
export type TableRow = {
  line: number
  cells: string[]
  numbers?: Record<number, string>
  faults?: { column: number | null; text: string }[]
  merged?: number[]
}

/** Further columns are ignored, to limit the cost of wide files. */
export const MAX_COLUMNS = 200

/** Doubts about columns that have the meaning of an earlier one. @param isList of meanings that several columns may have. */
export function findRepeated(meanings: string[], isList: (meaning: string) => boolean): Record<number, string> {
  const repeated = meanings.flatMap((meaning, i) => {
    const first = meanings.indexOf(meaning)
    return meaning === '' || first === i || isList(meaning) ? [] : [[i, `Column ${first + 1} has the same meaning.`] as const]
  })
  return Object.fromEntries(repeated)
}
