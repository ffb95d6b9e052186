import { answeredByValue, type Kind } from '../kind.ts'
import { matchingAuthor } from './author.ts'
import { matchingControl } from './candidate.ts'
import { examples } from './example.ts'
import { matchingFormat } from './format.ts'
import { matchingSheet } from './grader.ts'
import { matching } from './rules.ts'

export const matchingKind: Kind = {
  ...matching,
  answering: () => answeredByValue,
  control: matchingControl,
  sheet: matchingSheet,
  examples,
  author: matchingAuthor,
  format: matchingFormat,
}
