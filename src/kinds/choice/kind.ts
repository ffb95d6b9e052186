import { answeredByValue, type Kind } from '../kind.ts'
import { choiceAuthor } from './author.ts'
import { choiceControl } from './candidate.ts'
import { examples } from './example.ts'
import { choiceFormat } from './format.ts'
import { choiceGradingView } from './grading-view.ts'
import { choiceRules } from './rules.ts'

export const choiceKind: Kind = {
  ...choiceRules,
  answering: () => answeredByValue,
  control: choiceControl,
  gradingView: choiceGradingView,
  examples,
  author: choiceAuthor,
  format: choiceFormat,
}
