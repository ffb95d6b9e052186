import { answeredByValue, type Kind } from '../kind.ts'
import { shortTextAuthor } from './author.ts'
import { shortTextControl } from './candidate.ts'
import { examples } from './example.ts'
import { shortTextFormat } from './format.ts'
import { shortTextGradingView } from './grading-view.ts'
import { shortTextRules } from './rules.ts'

export const shortTextKind: Kind = {
  ...shortTextRules,
  answering: () => answeredByValue,
  control: shortTextControl,
  gradingView: shortTextGradingView,
  examples,
  author: shortTextAuthor,
  format: shortTextFormat,
}
