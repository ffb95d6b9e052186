import type { FastifyInstance } from 'fastify'
import { findConsentText } from '../../../domain/brand/page-texts.ts'
import { DomainError, type SessionProblem } from '../../../domain/errors.ts'
import { saveLanguage, saveTimeZone } from '../../../domain/invites/candidate-preferences.ts'
import { consentScope } from '../../../domain/submissions/needs.ts'
import { beginAnswering } from '../../../domain/submissions/taking/begin-answering.ts'
import { finishSubmission } from '../../../domain/submissions/taking/finish-submission.ts'
import {
  DIRECTIONS,
  type Direction,
  findFreeSection,
  finishSection,
  goToQuestion,
  leaveFreeQuestion,
} from '../../../domain/submissions/taking/free-section.ts'
import { enterForChange } from '../../../domain/submissions/taking/open-missing-submissions.ts'
import { openQuestion } from '../../../domain/submissions/taking/open-question.ts'
import { openSection } from '../../../domain/submissions/taking/open-section.ts'
import { closeQuestion } from '../../../domain/submissions/taking/paper.ts'
import { readPreparation, readProgress } from '../../../domain/submissions/taking/read-progress.ts'
import { CONSENT_VERSION, recordConsent } from '../../../domain/submissions/taking/record-consent.ts'
import { saveText } from '../../../domain/submissions/taking/save-text.ts'
import { enterSession, type PreparedSession, requireInProgress } from '../../../domain/submissions/taking/session.ts'
import { startSubmission } from '../../../domain/submissions/taking/start-submission.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { addForm, readNumber, type SubmittedForm } from '../kit/forms.ts'
import { sendPage } from '../kit/layout.ts'
import type { Options } from '../kit/settings.ts'
import { choosePage, viewOf } from './choose-page.ts'
import { consentTextVersion, hashOfTerms } from './consent.page.ts'

/** Largest form: MAX_ANSWER_LENGTH characters of four bytes, each encoded as three. */
export const TEXT_BODY_LIMIT = 256 * 1024

/** Forms from consent to the end. If the state does not allow one, the page of the present state is shown instead of an error. */
export function takingRoutes(app: FastifyInstance, options: Options): void {
  const add: Add = (action, work, admission) => addForm(app, options.settings.secretKeys, action, work, admission)
  startRoutes(add, options)
  answerRoutes(add, options)
}

type Add = (action: string, work: Parameters<typeof addForm>[3], admission?: Parameters<typeof addForm>[4]) => void

/** Forms up to the open question. */
function startRoutes(add: Add, { system, settings }: Options): void {
  add('consent', async ({ ref, fields, request }) => {
    await saveTimeZone(system, ref, fields.get('zone') ?? '')
    const session = await enterForChange(system, ref)
    const { needs } = await readPreparation(session)
    const view = viewOf(session, request, settings)
    const consentText = await findConsentText(session.ctx, view.t.language, session.invite.organization.language)
    const terms = { needs, keptDays: settings.keptDays, webcam: settings.webcam, addition: consentText }
    // If the terms have changed since the page was loaded, the page asks again.
    const isCurrent =
      fields.get('version') === String(CONSENT_VERSION) &&
      fields.get('media') === consentScope(needs).join(' ') &&
      (fields.get('own') ?? '') === consentTextVersion(terms) &&
      fields.get('language') === view.t.language
    if (!isCurrent) return
    const shownTerms = { language: view.t.language, textHash: hashOfTerms(view, terms), organizationText: consentText }
    await recordConsent(session, { needs, userAgent: request.headers['user-agent'] ?? '', shown: shownTerms })
  })

  add('start', async ({ ref, request, reply }) => {
    try {
      await startSubmission(await enterSession(system, ref))
    } catch (error) {
      if (!isRefused(error)) throw error
      const session = await enterSession(system, ref)
      const page = await choosePage(session, request, settings, { refusal: problemOf(error) })
      return () => sendPage(reply, 422, page)
    }
  })

  for (const [action, work] of [
    ['open', openQuestion],
    ['open-section', openSection],
  ] as const)
    add(action, async ({ ref, fields, request, reply }) => {
      const number = readNumber(fields)
      const session = await enterForChange(system, ref)
      try {
        requireInProgress(session)
        await work(session, number)
      } catch (error) {
        if (!isRefused(error)) throw error
        if (problemOf(error) !== 'not_shared') return
        const page = await choosePage(session, request, settings, { refusal: 'not_shared' })
        return () => sendPage(reply, 422, page)
      }
    })
}

/** Forms of an open question and of a section, and the end. */
function answerRoutes(add: Add, { system, settings, countText }: Options): void {
  add(
    'answer',
    async (sent) => {
      const { ref, fields, request, reply } = sent
      const number = readNumber(fields)
      const session = await enterForChange(system, ref)
      let isUnanswered = false
      const isSaved = await ignoreRefusal(async () => {
        requireInProgress(session)
        await saveText(session, number, { text: readText(fields) })
        const direction = readDirection(fields)
        if (direction === null) return
        const section = await findFreeSection(session, number)
        if (section) return leaveFreeQuestion(session, section, number, direction)
        if (direction !== 'next') return
        isUnanswered = (await readProgress(session)).unanswered.includes(number)
        if (!isUnanswered) await closeQuestion(session, number)
      })
      if (isUnanswered) {
        const page = await choosePage(await enterSession(system, ref), request, settings, { isUnanswered })
        return () => sendPage(reply, 200, page)
      }
      const language = fields.get('language')
      if (language !== null) await saveLanguage(system, ref, language)
      return isSaved ? undefined : () => redirectLate(sent)
    },
    {
      bodyLimit: TEXT_BODY_LIMIT,
      async admit(ref, request, reply) {
        const session = await enterForChange(system, ref)
        const isTaken = await ignoreRefusal(async () => requireInProgress(session))
        if (!isTaken) return () => redirectLate({ request, reply })
        countText(ref.inviteId)
        return { organizationId: session.ctx.organization.id }
      },
    },
  )

  for (const [action, work] of [
    ['begin', beginAnswering],
    ['next', leaveQuestion],
    ['go', goToQuestion],
    ['finish-section', finishSection],
  ] satisfies [string, (session: PreparedSession, number: number, fields: URLSearchParams) => Promise<void>][])
    add(action, async ({ ref, fields }) => {
      const number = readNumber(fields)
      const session = await enterForChange(system, ref)
      await ignoreRefusal(async () => {
        requireInProgress(session)
        await work(session, number, fields)
      })
    })

  add('finish', async ({ ref }) => {
    await finishSubmission(await enterForChange(system, ref))
  })
}

const readDirection = (fields: URLSearchParams): Direction | null =>
  DIRECTIONS.find((direction) => direction === fields.get('then')) ?? null

/** Leaves a question whose answer is saved already. Without navigation it closes for good. */
async function leaveQuestion(session: PreparedSession, number: number, fields: URLSearchParams): Promise<void> {
  const section = await findFreeSection(session, number)
  if (section) await leaveFreeQuestion(session, section, number, readDirection(fields) ?? 'next')
  else await closeQuestion(session, number)
}

/** Reads the text of a form, whose lines end with CR LF. Without a text, reads the fields of the question's kind; `clear` empties them. */
function readText(fields: URLSearchParams): string {
  const text = fields.get('text')
  if (text !== null) return text.replaceAll('\r\n', '\n')
  const typedAnswer = fields.get('then') === 'clear' ? [] : fields.getAll('answer')
  return new URLSearchParams(typedAnswer.map((value): [string, string] => ['answer', value])).toString()
}

const redirectLate = ({ request, reply }: Pick<SubmittedForm, 'request' | 'reply'>) =>
  reply.redirect(`${INVITATION_PATH}/${request.params.token}?late=1`, 303)

const isRefused = (error: unknown): error is DomainError => error instanceof DomainError && error.kind === 'session_refused'

function problemOf({ issues: [first] }: DomainError): SessionProblem | undefined {
  return first?.rule === 'session' ? first.problem : undefined
}

/** @returns false if the change was refused. */
async function ignoreRefusal(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!isRefused(error)) throw error
    return false
  }
}
