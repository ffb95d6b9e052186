import type { QuestionPicture } from '../../domain/assets/question-pictures.ts'
import { withoutPictures } from '../../domain/assets/references.ts'
import type { NeutralAnswer, NeutralQuestion, NumberRange } from '../neutral.ts'
import { byShare, losesBackslashes, losesText, lossesOfOptions } from '../neutral.ts'
import { middleOf } from './decimals.ts'
import { writeCategory } from './moodle-category.ts'

const escapeXml = (text: string): string =>
  text
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    // Control characters that XML 1.0 doesn't have.
    .replace(/[\p{Cc}\p{Noncharacter_Code_Point}]/gu, (sign) => ('\t\n\r'.includes(sign) ? sign : ''))
    .toWellFormed()

/** Percentages that Moodle has for answers, also negative. It refuses others. */
const SHARES = [
  100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 5, 0,
]
const nearestShare = (share: number): number =>
  SHARES.reduce((nearest, candidate) =>
    Math.abs(Math.abs(share) - candidate) < Math.abs(Math.abs(share) - nearest) ? candidate : nearest,
  ) * (share < 0 ? -1 : 1)
/** Further away, a share is named as a loss. */
const MAX_DEVIATION = 1

function lossesOfShares(answers: { share: number }[]): string[] {
  const changed = answers.map(({ share }) => share).filter((share) => Math.abs(nearestShare(share) - share) > MAX_DEVIATION)
  return [...new Set(changed)].map(
    (share) => `Moodle has no share of ${Math.round(share)} %: it becomes ${Math.round(nearestShare(share))} %.`,
  )
}

/** Sentences about content that Moodle XML can't hold. */
export const moodleXmlLosses = ({ text, answer, files }: NeutralQuestion): string[] => [
  ...losesText(text),
  ...lossesOf(answer),
  ...(files?.some(({ base64 }) => base64 === '') ? ['A picture is missing.'] : []),
]

function lossesOf(answer: NeutralAnswer): string[] {
  switch (answer.as) {
    case 'options':
      return [...lossesOfOptions(answer), ...lossesOfShares(answer.options)]
    case 'words':
      return [...losesBackslashes(answer), ...lossesOfShares(answer.accepted)]
    case 'number':
      return [
        ...(answer.ranges.some((range) => 'from' in range) ? ['A range is exported as its middle with a tolerance.'] : []),
        ...lossesOfShares(answer.ranges),
      ]
    case 'pairs':
      return answer.pairs.some(([, choice]) => withoutPictures(choice) !== choice)
        ? ['Pictures in choices are exported as their descriptions.']
        : []
    case 'open':
      if (answer.responseType === 'text') return []
      return isRecording(answer.responseType)
        ? ['In Moodle, it needs the plugin “Record audio/video”.']
        : ['The response type is not exported: it becomes a text.']
    default:
      return []
  }
}

const isRecording = (responseType: string): boolean => responseType === 'audio' || responseType === 'video'

/** Each call returns the next questions. A category is written when it changes. */
export function createMoodleXmlWriter(): { write: (questions: readonly NeutralQuestion[]) => string; end: () => string } {
  let head = '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n'
  let category = ''
  const takeHead = () => {
    const currentHead = head
    head = ''
    return currentHead
  }
  return {
    write: (questions) => takeHead() + questions.map(write).join(''),
    end: () => `${takeHead()}</quiz>\n`,
  }

  function write(question: NeutralQuestion): string {
    const changed = question.category !== category
    category = question.category
    const path = `$course$/top${category === '' ? '' : `/${writeCategory(category)}`}`
    return `${changed ? `<question type="category"><category><text>${escapeXml(path)}</text></category></question>\n` : ''}${writeQuestion(question)}`
  }
}

function writeQuestion({ name, text, isFormatted, points, answer, files = [] }: NeutralQuestion): string {
  const [type, body] = writeAnswer(answer, files)
  return `<question type="${type}">
<name><text>${escapeXml(name)}</text></name>
${writeText('questiontext', '', { text, isFormatted, files })}
<defaultgrade>${points ?? 1}</defaultgrade>
${body}</question>
`
}

type Text = { text: string; isFormatted?: boolean; files: QuestionPicture[] }

/** An element with a text, and the pictures that it refers to. @param more further elements. */
function writeText(element: string, attributes: string, { text, isFormatted = false, files }: Text, more = ''): string {
  const used = files.filter(({ id, base64 }) => base64 !== '' && text.toLowerCase().includes(`asset:${id}`))
  const format = isFormatted ? 'markdown' : used.length > 0 ? 'html' : 'plain_text'
  const linked = used.reduce(
    (linking, { id, name }) => linking.replaceAll(`](asset:${id})`, `](@@PLUGINFILE@@/${encodeURIComponent(name)})`),
    text,
  )
  const content = format === 'html' ? toHtml(linked) : linked
  const attached = used.map(({ name, base64 }) => `<file name="${escapeXml(name)}" path="/" encoding="base64">${base64}</file>`)
  return `<${element}${attributes} format="${format}"><text>${escapeXml(content)}</text>${attached.join('')}${more}</${element}>`
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replaceAll('\n', '<br>')

/** HTML of a plain text with pictures. */
const toHtml = (text: string): string =>
  escapeHtml(text).replace(/!\[([^[\]]*)\]\((@@PLUGINFILE@@\/[^()]+)\)/g, '<img src="$2" alt="$1">')

const flag = (name: string, isOn: boolean): string => `<${name}>${isOn}</${name}>\n`

function writeAnswer(answer: NeutralAnswer, files: QuestionPicture[]): [type: string, body: string] {
  const writePlain = (text: string, fraction: number) => `${writeText('answer', ` fraction="${fraction}"`, { text, files })}\n`
  switch (answer.as) {
    case 'open': {
      const { responseType } = answer
      if (isRecording(responseType)) return ['recordrtc', `<mediatype>${responseType}</mediatype>\n`]
      return ['essay', '<responseformat>plain</responseformat>\n<attachments>0</attachments>\n']
    }
    case 'words':
      return [
        'shortanswer',
        `<usecase>${answer.caseSensitive ? 1 : 0}</usecase>\n${byShare(answer.accepted)
          .map(({ text, share }) => writePlain(text, nearestShare(share)))
          .join('')}`,
      ]
    case 'number':
      return ['numerical', byShare(answer.ranges).map(writeRange).join('') + writeUnit(answer.unit)]
    case 'pairs':
      return [
        'matching',
        flag('shuffleanswers', answer.shuffle !== false) +
          answer.pairs
            .map(([text, choice]) => `${writeText('subquestion', '', { text, files }, writeChoice(choice))}\n`)
            .join(''),
      ]
    case 'order':
      return [
        'ordering',
        `<selecttype>ALL</selecttype>\n<gradingtype>ABSOLUTE_POSITION</gradingtype>\n${answer.items.map((text, i) => writePlain(text, i + 1)).join('')}`,
      ]
    case 'options':
      return [
        'multichoice',
        flag('single', !answer.several) +
          flag('shuffleanswers', answer.shuffle !== false) +
          answer.options.map(({ text, share }) => writePlain(text, nearestShare(share))).join(''),
      ]
  }
}

const writeChoice = (choice: string): string => `<answer><text>${escapeXml(withoutPictures(choice))}</text></answer>`

function writeRange(range: NumberRange): string {
  const { value, tolerance } = 'from' in range ? middleOf(range.from, range.to) : range
  return `<answer fraction="${nearestShare(range.share)}" format="plain_text"><text>${value}</text><tolerance>${tolerance ?? 0}</tolerance></answer>\n`
}

/** The unit may be typed, but gives no points. */
const writeUnit = (unit: string | undefined): string =>
  unit === undefined
    ? ''
    : `<unitgradingtype>0</unitgradingtype>\n<showunits>0</showunits>\n<units><unit><multiplier>1</multiplier><unit_name>${escapeXml(unit)}</unit_name></unit></units>\n`
