import { UnreadableFile } from '../../tables/unreadable-file.ts'
import type { NeutralAnswer, NeutralQuestion, NumberRange, ParsedQuestion, WeightedText } from '../neutral.ts'
import { plainDecimal, roundPoints } from './decimals.ts'
import { ANY_NUMBER, acceptNumbers, acceptTexts } from './moodle-answers.ts'
import { type MoodleCategory, readCategory } from './moodle-category.ts'
import { collectPictures, type FindContent, filesOf, toPicture } from './question-files.ts'
import {
  addLoss,
  FEEDBACK_LOST,
  GENERAL_FEEDBACK_LOST,
  MOODLE_IDS_LOST,
  type ReadState,
  readAnswerText,
  readScript,
  type SourceText,
  WITHOUT_POINTS,
} from './rich-text.ts'
import { readTruth } from './right-answers.ts'
import { childOf, childrenOf, descendantsOf, innerXml, isElement, readXml, textOf, type XmlNode } from './xml.ts'

// Moodle XML: a <quiz> of questions, each with its type. Categories are questions of the type `category`, and hold for those after them.

/** Types without a counterpart, by their names in Moodle. */
const UNKNOWN_TYPES: Record<string, string> = {
  cloze: 'Embedded answers (Cloze)',
  multianswer: 'Embedded answers (Cloze)',
  calculated: 'Calculated',
  calculatedsimple: 'Calculated simple',
  calculatedmulti: 'Calculated multichoice',
  ddwtos: 'Drag and drop into text',
  ddimageortext: 'Drag and drop onto image',
  ddmarker: 'Drag and drop markers',
  gapselect: 'Select missing words',
  randomsamatch: 'Random short-answer matching',
}

/** @throws UnreadableFile `damagedXml`, `doctype`, `tooHeavy`, `tooManyRows`. */
export function readMoodleXml(text: string, maxQuestions: number): ParsedQuestion[] {
  const found: ParsedQuestion[] = []
  let category: MoodleCategory = { path: '', losses: [] }
  readXml(text, (node) => {
    if (node.name !== 'question') return
    if (node.attributes.type === 'category') category = readCategory(textOf(childOf(childOf(node, 'category'), 'text')))
    else if (found.push(readQuestion(node, category)) > maxQuestions) throw new UnreadableFile('tooManyRows', maxQuestions)
  })
  return found
}

function readQuestion(node: XmlNode, category: MoodleCategory): ParsedQuestion {
  const { line, attributes } = node
  const type = (attributes.type ?? '').trim().toLowerCase()
  const name = textBelow(node, 'name').trim()
  const pictures = collectPictures(findContentIn(node))
  const reading: ReadState = { losses: [...category.losses], findPicture: pictures.find }
  const source = sourceOf(childOf(node, 'questiontext'), '')
  const { text, isFormatted } = readScript(source, reading)
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || text.slice(0, 120), refusal })
  const points = readPoints(textOf(childOf(node, 'defaultgrade')), reading)
  if (points === undefined) return refuse('Its default mark is not a number.')
  const readAnswer = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (!readAnswer) return refuse(describeType(type))
  if (text === '') return refuse('It has no text.')
  const answer = readAnswer(node, source.format, reading)
  if (typeof answer === 'string') return refuse(answer)
  nameLosses(node, reading)
  const question: NeutralQuestion = { name, category: category.path, text, isFormatted, points, answer, ...filesOf(pictures) }
  return { line, losses: reading.losses, question }
}

const describeType = (type: string): string =>
  type === 'description'
    ? 'It is a description without an answer.'
    : `Questions of Moodle’s type “${Object.hasOwn(UNKNOWN_TYPES, type) ? UNKNOWN_TYPES[type] : type.slice(0, 60)}” can’t be imported.`

/** Text of `<name><text>…</text></name>`. */
const textBelow = (node: XmlNode | undefined, name: string): string => textOf(childOf(childOf(node, name), 'text'))

/** @param inherited format of a text that names none. */
function sourceOf(node: XmlNode | undefined, inherited: string): SourceText {
  const text = childOf(node, 'text')
  const format = node?.attributes.format || inherited
  // Some programs write tags without escaping them.
  if (text?.children.some(isElement)) return { text: innerXml(text), format: 'html' }
  return { text: text ? textOf(text) : textOf(node), format }
}

/** Files of all texts of a question, by their addresses in these texts. */
function findContentIn(node: XmlNode): FindContent {
  const files = new Map(
    descendantsOf(node, 'file').map((file) => [
      `${file.attributes.path ?? '/'}${file.attributes.name}`,
      { name: file.attributes.name ?? '', base64: textOf(file).replace(/\s+/g, '') },
    ]),
  )
  return (source) => {
    const [, address] = /^@@PLUGINFILE@@(\/[^?#]*)/.exec(source) ?? []
    const file = address === undefined ? undefined : (files.get(address) ?? files.get(unescapeAddress(address)))
    return file && toPicture(file.name, file.base64)
  }
}

function unescapeAddress(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

/** @returns null for none, undefined for anything but a number from 0 on. */
function readPoints(typed: string, reading: ReadState): number | null | undefined {
  if (typed.trim() === '') return null
  const decimal = plainDecimal(typed.trim())
  return decimal === undefined || decimal.startsWith('-') ? undefined : roundPoints(decimal, reading.losses)
}

/** Feedback that Moodle puts into every question. */
const STANDARD_FEEDBACK = /^(your answer is (partially )?(correct|incorrect)\.?)?$/i

function nameLosses(node: XmlNode, reading: ReadState): void {
  const isFilled = (part: XmlNode) =>
    sourceOf(part, '')
      .text.replace(/<[^<>]*>|&nbsp;/g, '')
      .trim()
  if (childrenOf(node, 'generalfeedback').some(isFilled)) addLoss(reading, GENERAL_FEEDBACK_LOST)
  const combined = childrenOf(node, 'correctfeedback', 'partiallycorrectfeedback', 'incorrectfeedback')
  const ofAnswers = childrenOf(node, 'answer').flatMap((answer) => childrenOf(answer, 'feedback'))
  if (combined.some((part) => !STANDARD_FEEDBACK.test(isFilled(part))) || ofAnswers.some(isFilled))
    addLoss(reading, FEEDBACK_LOST)
  if (childrenOf(node, 'hint').some(isFilled)) addLoss(reading, 'Hints are not imported.')
  if (textOf(childOf(node, 'idnumber')).trim() !== '' || childrenOf(childOf(node, 'tags') ?? node, 'tag').length > 0)
    addLoss(reading, MOODLE_IDS_LOST)
}

/** @param format of the question, for answers without one. @returns the reason, in a sentence, if the question can't be imported. */
type ReadAnswer = (node: XmlNode, format: string, reading: ReadState) => NeutralAnswer | string

const READERS: Record<string, ReadAnswer> = {
  multichoice: (node, format, reading) => readOptions(node, format, reading),
  // A plugin: all right options, or nothing.
  multichoiceset: (node, format, reading) => {
    const answer = readOptions(node, format, reading)
    return typeof answer === 'string' || answer.as !== 'options' ? answer : { ...answer, several: true, exact: true }
  },
  truefalse: (node) => {
    const right = childrenOf(node, 'answer').find((answer) => Number(answer.attributes.fraction) === 100)
    return readTruth(right ? sourceOf(right, '').text.trim() : '')
  },
  shortanswer: readWords,
  numerical: readNumbers,
  matching: readPairs,
  match: readPairs,
  ordering: readOrder,
  essay: readEssay,
  recordrtc: (node) => {
    const mediaType = textOf(childOf(node, 'mediatype')).trim()
    return mediaType === 'audio' || mediaType === 'video'
      ? { as: 'open', responseType: mediaType }
      : `Recordings of the type “${mediaType.slice(0, 60)}” can’t be imported.`
  },
}

const isOn = (node: XmlNode, name: string): boolean => /^(1|true)$/i.test(textOf(childOf(node, name)).trim())
const isOff = (node: XmlNode, name: string): boolean => /^(0|false)$/i.test(textOf(childOf(node, name)).trim())

/** NaN for anything but a number. */
const shareOf = ({ attributes }: XmlNode): number => Number(plainDecimal((attributes.fraction ?? '0').trim()) ?? Number.NaN)

const answersOf = (node: XmlNode, format: string, reading: ReadState): WeightedText[] =>
  childrenOf(node, 'answer').map((answer) => ({
    text: readAnswerText(sourceOf(answer, format), reading),
    share: shareOf(answer),
  }))

const NO_SHARE = 'A share is not a number.'

function readOptions(node: XmlNode, format: string, reading: ReadState): NeutralAnswer | string {
  const options = answersOf(node, format, reading)
  if (options.some(({ share }) => Number.isNaN(share))) return NO_SHARE
  if (options.some(({ text }) => text === '')) return 'An option has no text.'
  return { as: 'options', several: isOff(node, 'single'), ...(isOff(node, 'shuffleanswers') && { shuffle: false }), options }
}

function readWords(node: XmlNode, _: string, reading: ReadState): NeutralAnswer | string {
  // Answers are compared as they are written, whatever their format.
  const accepted = childrenOf(node, 'answer').map((answer) => ({
    text: sourceOf(answer, '').text.trim(),
    share: shareOf(answer),
  }))
  if (accepted.some(({ share }) => Number.isNaN(share))) return NO_SHARE
  return acceptTexts(accepted, isOn(node, 'usecase'), reading)
}

function readNumbers(node: XmlNode, _: string, reading: ReadState): NeutralAnswer | string {
  const ranges: NumberRange[] = []
  for (const answer of childrenOf(node, 'answer')) {
    const share = Math.round(shareOf(answer))
    const typed = sourceOf(answer, '').text.trim()
    const value = plainDecimal(typed)
    const tolerance = plainDecimal(textOf(childOf(answer, 'tolerance')).trim() || '0')
    if (Number.isNaN(share)) return NO_SHARE
    if (typed === '*' && share <= 0) ranges.push({ ...ANY_NUMBER, share })
    else if (value !== undefined && tolerance !== undefined) ranges.push({ value, tolerance, share })
    else if (share > 0) return `“${typed.slice(0, 60)}” is not a number.`
    else addLoss(reading, WITHOUT_POINTS)
  }
  return acceptNumbers(ranges, reading, readUnit(node, reading))
}

/** The unit behind the field. Moodle may have several, and their factors. */
function readUnit(node: XmlNode, reading: ReadState): string | undefined {
  const [unit, ...more] = childrenOf(childOf(node, 'units') ?? { ...node, children: [] }, 'unit')
  if (!unit) return undefined
  const name = textOf(childOf(unit, 'unit_name')).trim()
  if (more.length === 0 && name !== '' && Number(textOf(childOf(unit, 'multiplier'))) === 1) return name
  addLoss(reading, 'Units are not imported.')
  return undefined
}

function readPairs(node: XmlNode, format: string, reading: ReadState): NeutralAnswer | string {
  const pairs = childrenOf(node, 'subquestion').map((pair): [string, string] => [
    readAnswerText(sourceOf(pair, format), reading),
    readAnswerText({ text: textBelow(pair, 'answer'), format: 'plain' }, reading),
  ])
  return { as: 'pairs', pairs, ...(isOff(node, 'shuffleanswers') && { shuffle: false }) }
}

function readOrder(node: XmlNode, format: string, reading: ReadState): NeutralAnswer | string {
  const selected = textOf(childOf(node, 'selecttype')).trim()
  if (!/^(|0|all)$/i.test(selected)) addLoss(reading, 'All items are asked, instead of a selection.')
  const grading = textOf(childOf(node, 'gradingtype')).trim()
  if (!/^(|0|absolute(_position)?)$/i.test(grading))
    addLoss(reading, 'Each item in its right place gets its share of the points.')
  return { as: 'order', items: answersOf(node, format, reading).map(({ text }) => text) }
}

function readEssay(node: XmlNode, _: string, reading: ReadState): NeutralAnswer | string {
  if (textOf(childOf(node, 'responseformat')).trim() === 'noinline') return 'File uploads can’t be imported from Moodle yet.'
  if (Number(textOf(childOf(node, 'attachments'))) !== 0) addLoss(reading, 'Attached files are not asked for.')
  if (textBelow(node, 'graderinfo').trim() !== '') addLoss(reading, 'The information for graders is not imported.')
  if (textBelow(node, 'responsetemplate').trim() !== '') addLoss(reading, 'The template of the answer is not imported.')
  return { as: 'open', responseType: 'text' }
}
