import { answeredByValue, type Kind } from '../kind.ts'
import { orderingAuthor } from './author.ts'
import { orderingControl } from './candidate.ts'
import { examples } from './example.ts'
import { orderingFormat } from './format.ts'
import { orderingGradingView } from './grading-view.ts'
import { orderingRules } from './rules.ts'

export const orderingKind: Kind = {
  ...orderingRules,
  answering: () => answeredByValue,
  control: orderingControl,
  gradingView: orderingGradingView,
  examples,
  author: orderingAuthor,
  format: orderingFormat,
}
