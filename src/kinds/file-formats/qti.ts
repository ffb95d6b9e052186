import { posix } from 'node:path'
import type { QuestionPicture } from '../../domain/assets/question-pictures.ts'
import { decodeText } from '../../tables/decode-text.ts'
import { type Package, readPackage } from '../../tables/read-package.ts'
import { UnreadableFile } from '../../tables/unreadable-file.ts'
import type { ParsedQuestion } from '../neutral.ts'
import { interactionsIn, readQtiAnswer } from './qti-answers.ts'
import { toHtml } from './qti-html.ts'
import { collectPictures, type FindContent, filesOf, toPicture } from './question-files.ts'
import { addLoss, FEEDBACK_LOST, type ReadState, readScript } from './rich-text.ts'
import { childOf, descendantsOf, readXml, type XmlNode } from './xml.ts'

// QTI 2.1 and 2.2: one item, or a package (ZIP) with a manifest and a file for each item.

const WANTED = /\.(xml|png|jpe?g|gif|webp)$/

/** @throws UnreadableFile `damagedXml`, `doctype`, `tooHeavy`; `empty` for a test without its items. */
export function readQtiItem(text: string): ParsedQuestion[] {
  const item = readXml(text)
  if (item.name !== 'assessmentItem') throw new UnreadableFile('qtiTest')
  return [readItem(item, item.line, () => undefined)]
}

/** The items in the order of the manifest; their numbers are the lines. @throws UnreadableFile as readPackage, and for the manifest. */
export function readQtiPackage(bytes: Uint8Array, maxQuestions: number): ParsedQuestion[] {
  const { files } = readPackage(bytes, (name) => WANTED.test(name))
  const manifest = readXml(decodeText(files.get('imsmanifest.xml') ?? new Uint8Array()).text)
  const paths = descendantsOf(manifest, 'resource')
    .filter(({ attributes }) => /^imsqti_item_xmlv2p\d/i.test(attributes.type ?? ''))
    .map(({ attributes, ...resource }) => attributes.href ?? childOf({ attributes, ...resource }, 'file')?.attributes.href ?? '')
  if (paths.length === 0) throw new UnreadableFile('empty')
  if (paths.length > maxQuestions) throw new UnreadableFile('tooManyRows', maxQuestions)
  const findPicture = createPictureSource(files)
  return paths.map((path, i) => readItemFile(files, findPicture, path, i + 1))
}

type Files = Package['files']

const find = (files: Files, path: string): Uint8Array | undefined => files.get(posix.normalize(unescapePath(path)).toLowerCase())

/** Encodes each picture once, however many items show it. */
function createPictureSource(files: Files): FindContent {
  const pictures = new Map<Uint8Array, QuestionPicture>()
  return (path) => {
    const content = find(files, path)
    if (!content) return undefined
    const picture = pictures.get(content) ?? toPicture(posix.basename(path), Buffer.from(content).toString('base64'))
    pictures.set(content, picture)
    return picture
  }
}

function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function readItemFile(files: Files, findPicture: FindContent, path: string, line: number): ParsedQuestion {
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: path, refusal })
  const file = find(files, path)
  if (!file) return refuse(`The package has no file “${path}”.`)
  const findContent: FindContent = (source) => findPicture(posix.join(posix.dirname(path), source))
  try {
    return readItem(readXml(decodeText(file).text), line, findContent)
  } catch (error) {
    if (!(error instanceof UnreadableFile) || error.problem === 'tooHeavy') throw error
    if (error.problem === 'doctype') return refuse(`The file “${path}” has a DOCTYPE.`)
    return refuse(`The file “${path}” is damaged${error.limit ? ` in line ${error.limit}` : ''}.`)
  }
}

function readItem(item: XmlNode, line: number, findContent: FindContent): ParsedQuestion {
  const name = (item.attributes.title ?? item.attributes.identifier ?? '').trim()
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name, refusal })
  const body = childOf(item, 'itemBody')
  if (item.name !== 'assessmentItem' || !body) return refuse('This isn’t a QTI item.')
  if (childOf(item, 'templateDeclaration')) return refuse('Its values are drawn by a template, which can’t be imported.')
  const [interaction, ...more] = interactionsIn(body)
  if (!interaction) return refuse('It is a description without an answer.')
  if (more.length > 0) return refuse(`It has ${more.length + 1} answer fields. Only questions with one can be imported.`)
  const pictures = collectPictures(findContent)
  const reading: ReadState = { losses: [], findPicture: pictures.find }
  const { text, isFormatted } = readScript({ text: toHtml(body, reading, interaction), format: 'html' }, reading)
  if (text === '') return refuse('It has no text.')
  const parsed = readQtiAnswer(item, interaction, reading)
  if (typeof parsed === 'string') return refuse(parsed)
  if (childOf(item, 'modalFeedback')) addLoss(reading, FEEDBACK_LOST)
  const { answer, points, choiceList = '' } = parsed
  const question = { name, category: '', text: text + choiceList, isFormatted, points, answer, ...filesOf(pictures) }
  return { line, losses: reading.losses, question }
}
