import { answeredByValue, type Kind } from '../kind.ts'
import { numberAuthor } from './author.ts'
import { numberControl } from './candidate.ts'
import { examples } from './example.ts'
import { numberFormat } from './format.ts'
import { numberSheet } from './grader.ts'
import { number } from './rules.ts'

export const numberKind: Kind = {
  ...number,
  answering: () => answeredByValue,
  control: numberControl,
  sheet: numberSheet,
  examples,
  author: numberAuthor,
  format: numberFormat,
}
