import type { PlainKind } from '../kind.ts'
import { textControl } from './candidate.ts'

/** A free text. Also used for unknown response types. */
export const textKind: PlainKind = {
  offers: [{ word: 'text', label: 'Text', description: 'Written, as long as they like', icon: 'file-text' }],
  words: ['text'],
  answering: () => ({ savedBy: ['text'], records: [], needs: [] }),
  control: textControl,
}
