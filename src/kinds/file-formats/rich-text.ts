import { UnreadableFile } from '../../tables/unreadable-file.ts'
import { hasTags, readHtml } from './html-text.ts'
import type { FindPicture } from './question-files.ts'

// Texts of question files in their formats, by the names of GIFT and Moodle XML.

/** @property format `html`, `markdown`, `plain`, or another word for a text that may have tags. */
export type SourceText = { text: string; format: string }

/** State while a question is read. Each loss is named once. */
export type ReadState = { losses: string[]; findPicture: FindPicture }

export const FEEDBACK_LOST = 'Feedback is not imported.'
export const GENERAL_FEEDBACK_LOST = 'General feedback is not imported.'
export const MOODLE_IDS_LOST = 'Tags and ids of Moodle are not imported.'
export const WITHOUT_POINTS = 'Answers without points are left out.'

export function addLoss({ losses }: Pick<ReadState, 'losses'>, loss: string): void {
  if (!losses.includes(loss)) losses.push(loss)
}

const isPlain = (format: string) => /plain/i.test(format)
const isMarkdown = (format: string) => /markdown/i.test(format)
const isHtml = ({ text, format }: SourceText) => /html/i.test(format) || hasTags(text)

/** Characters of HTML besides its pictures: far more than the texts of a question may have. */
const MAX_LENGTH = 400_000
function rejectTooLong(text: string): void {
  if (text.length > MAX_LENGTH && text.replace(/data:image\/[^"'()\s]*/g, '').length > MAX_LENGTH)
    throw new UnreadableFile('tooHeavy')
}

/** Text of a question. */
export function readScript(source: SourceText, reading: ReadState): { text: string; isFormatted: boolean } {
  const { text, format } = source
  rejectTooLong(text)
  if (isMarkdown(format)) return { text: readMarkdown(text, reading), isFormatted: true }
  if (isPlain(format) || !isHtml(source)) return { text: text.trim(), isFormatted: false }
  const { losses, ...richText } = readHtml(text, reading.findPicture)
  for (const loss of losses) addLoss(reading, loss)
  return richText
}

/** Text of an answer, which has no formatting, but may have pictures. */
export function readAnswerText(source: SourceText, reading: ReadState): string {
  const { text, format } = source
  rejectTooLong(text)
  if (isMarkdown(format)) return readMarkdown(text, reading)
  if (isPlain(format) || !isHtml(source)) return text.trim()
  const parsed = readHtml(text, reading.findPicture, { plain: true })
  for (const loss of parsed.losses) addLoss(reading, loss)
  return parsed.text
}

const readMarkdown = (text: string, { findPicture }: ReadState): string =>
  text
    .replace(/!\[([^[\]\n]{0,500})\]\(([^()\s]+)\)/g, (whole, alt: string, source: string) => findPicture(source, alt) ?? whole)
    .trim()
