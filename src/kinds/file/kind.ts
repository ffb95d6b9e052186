import type { Kind } from '../kind.ts'
import { fileAuthor } from './author.ts'
import { fileControl } from './candidate.ts'
import { examples } from './example.ts'
import { fileFormat } from './format.ts'
import { fileGradingView } from './grading-view.ts'
import { fileRules } from './rules.ts'

export const fileKind: Kind = {
  ...fileRules,
  answering: () => ({ savedBy: ['file'], records: [], needs: [] }),
  control: fileControl,
  gradingView: fileGradingView,
  examples,
  author: fileAuthor,
  format: fileFormat,
}
