import type { PlainKind } from '../kind.ts'
import { textControl } from './candidate.ts'

/** A text of whatever length; also what is asked under a word that no kind has. */
export const text: PlainKind = {
  offers: [{ word: 'text', label: 'Text', line: 'Written, as long as they like', icon: 'file-text' }],
  words: ['text'],
  answering: () => ({ savedBy: ['text'], records: [], needs: [] }),
  control: textControl,
}
