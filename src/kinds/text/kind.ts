import type { PlainKind } from '../kind.ts'
import { textControl } from './candidate.ts'

/** A text of whatever length; also what is asked under a word that no kind has. */
export const text: PlainKind = {
  words: ['text'],
  answering: () => ({ savedBy: ['text'], records: [], needs: [] }),
  control: textControl,
}
