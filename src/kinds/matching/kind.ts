import { answeredByValue, type Kind } from '../kind.ts'
import { matchingAuthor } from './author.ts'
import { matchingControl } from './candidate.ts'
import { examples } from './example.ts'
import { matchingFormat } from './format.ts'
import { matchingGradingView } from './grading-view.ts'
import { matchingRules } from './rules.ts'

export const matchingKind: Kind = {
  ...matchingRules,
  answering: () => answeredByValue,
  control: matchingControl,
  gradingView: matchingGradingView,
  examples,
  author: matchingAuthor,
  format: matchingFormat,
}
