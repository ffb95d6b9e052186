import { answeredByValue, type Kind } from '../kind.ts'
import { numberAuthor } from './author.ts'
import { numberControl } from './candidate.ts'
import { examples } from './example.ts'
import { numberFormat } from './format.ts'
import { numberGradingView } from './grading-view.ts'
import { numberRules } from './rules.ts'

export const numberKind: Kind = {
  ...numberRules,
  answering: () => answeredByValue,
  control: numberControl,
  gradingView: numberGradingView,
  examples,
  author: numberAuthor,
  format: numberFormat,
}
