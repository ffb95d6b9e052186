import { answeredByValue, type Kind } from '../kind.ts'
import { shortTextAuthor } from './author.ts'
import { shortTextControl } from './candidate.ts'
import { examples } from './example.ts'
import { shortTextFormat } from './format.ts'
import { shortTextSheet } from './grader.ts'
import { shortText } from './rules.ts'

export const shortTextKind: Kind = {
  ...shortText,
  answering: () => answeredByValue,
  control: shortTextControl,
  sheet: shortTextSheet,
  examples,
  author: shortTextAuthor,
  format: shortTextFormat,
}
