import type { PlainKind } from '../kind.ts'
import { textControl } from './candidate.ts'

/** A free text. Also used for unknown response types. */
export const textKind: PlainKind = {
  offers: [{ word: 'text', label: 'Text', description: 'A written answer of any length', icon: 'file-text' }],
  words: ['text'],
  answering: () => ({ savedBy: ['text'], records: [], needs: [] }),
  control: textControl,
}
