import { assetIdIn } from '../assets/references.ts'
import type { Issue, Violation } from '../errors.ts'
import { AMOUNTS, MAX_MARKS, MAX_NAME_LENGTH, MAX_SCRIPT_LENGTH, MAX_URL_LENGTH, PREPARATION_SECONDS } from '../limits.ts'
import { countMarks } from '../text/count-marks.ts'
import { checkChoice, checkInteger, checkName, checkText, findIssues } from '../validation/checks.ts'
import { checkLanguages } from './assessment-input.ts'
import type { QuestionInput } from './question-input.ts'
import { findRubricIssues } from './rubric.ts'
import { canBeSimultaneous } from './simultaneous.ts'

/** Issues of a question, as far as they can be found without the database. */
export const findQuestionIssues = (input: QuestionInput): Issue[] => [
  ...findIssues([
    ['inputType', checkName(input.inputType, MAX_NAME_LENGTH)],
    ['responseType', checkName(input.responseType, MAX_NAME_LENGTH)],
    ['scriptFormat', checkChoice(input.scriptFormat, ['plain', 'markdown'])],
    ['script', checkText(input.script, MAX_SCRIPT_LENGTH) ?? checkMarks(input)],
    ['audioUrl', checkMediaUrl(input.audioUrl)],
    ['videoUrl', checkMediaUrl(input.videoUrl)],
    [promptFieldOf(input.inputType), checkAsked(input)],
    ['points', checkInteger(input.points, AMOUNTS)],
    ['timeLimit', checkInteger(input.timeLimit, AMOUNTS)],
    ['preparationTime', checkInteger(input.preparationTime, PREPARATION_SECONDS)],
    ['simultaneous', checkSimultaneous(input)],
    ['sourceLanguage', checkLanguages([input.sourceLanguage], [''])],
    ['targetLanguage', checkLanguages([input.targetLanguage], [''])],
  ]),
  ...findRubricIssues(input),
]

const checkMarks = ({ script, scriptFormat }: QuestionInput): Violation | undefined =>
  scriptFormat === 'markdown' && countMarks(script) > MAX_MARKS ? { rule: 'malformed', text: TOO_MANY_MARKS } : undefined

const TOO_MANY_MARKS = `A formatted text can have at most ${MAX_MARKS.toLocaleString('en')} of the characters * _ | [ and \`. Use fewer, or have it shown as it is typed.`

/** Candidates' pages play media by https only. */
const checkMediaUrl = (url: string): Violation | undefined =>
  checkText(url, MAX_URL_LENGTH) ??
  (url === '' || assetIdIn(url) || (/^https:\/\//i.test(url) && URL.canParse(url))
    ? undefined
    : { rule: 'account', problem: 'notHttps' })

/** A question needs a text, audio, or video, and the media that its input type names. */
function checkAsked({ inputType, script, audioUrl, videoUrl }: QuestionInput): Violation | undefined {
  if ([script, audioUrl, videoUrl].every((part) => part.trim() === '')) return { rule: 'account', problem: 'asksNothing' }
  const isMissing = (inputType === 'audio' && audioUrl === '') || (inputType === 'video' && videoUrl === '')
  return isMissing ? { rule: 'required' } : undefined
}

const checkSimultaneous = (input: QuestionInput): Violation | undefined =>
  input.simultaneous && !canBeSimultaneous(input) ? { rule: 'malformed', text: NOT_SIMULTANEOUS } : undefined

const NOT_SIMULTANEOUS =
  'To record while the prompt plays, let candidates answer by audio or by video, and upload or record one prompt, audio or video. A link to another website is not possible.'

/** The field that mainly puts a question of that kind. */
export const promptFieldOf = (inputType: string): keyof QuestionInput =>
  inputType === 'audio' ? 'audioUrl' : inputType === 'video' ? 'videoUrl' : 'script'
