import { answeredByValue, type Kind } from '../kind.ts'
import { choiceAuthor } from './author.ts'
import { choiceControl } from './candidate.ts'
import { examples } from './example.ts'
import { choiceFormat } from './format.ts'
import { choiceSheet } from './grader.ts'
import { choice } from './rules.ts'

export const choiceKind: Kind = {
  ...choice,
  answering: () => answeredByValue,
  control: choiceControl,
  sheet: choiceSheet,
  examples,
  author: choiceAuthor,
  format: choiceFormat,
}
