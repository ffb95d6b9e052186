import type { FastifyRequest } from 'fastify'
import { readSizes } from '../../../domain/assets/assets.ts'
import { findAgreedText, findConsentText } from '../../../domain/brand/page-texts.ts'
import type { SessionProblem } from '../../../domain/errors.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import { signReturnUrl } from '../../../domain/invites/return-url.ts'
import { selectableLanguages } from '../../../domain/languages/choose-language.ts'
import { signForm, signSession } from '../../../domain/secrets/invitation-tokens.ts'
import { findAssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { findOwnResult } from '../../../domain/submissions/grading/results.ts'
import { hasConsented, type Needs } from '../../../domain/submissions/needs.ts'
import { listPractice } from '../../../domain/submissions/taking/list-practice.ts'
import { type OpenQuestion, readPreparation, readProgress } from '../../../domain/submissions/taking/read-progress.ts'
import type { CandidateSession } from '../../../domain/submissions/taking/session.ts'
import { html } from '../../../html/html.ts'
import type { ConsentTerms } from '../../../http/pages/consent-terms.ts'
import { type Pictures, picturesOf } from '../../../http/pages/pictures.ts'
import { textsFor } from '../kit/language.ts'
import { button, type Page, pathOf, type View, withScript } from '../kit/layout.ts'
import type { CandidateSettings } from '../kit/settings.ts'
import { computerNeeded, type LinkSent } from './computer-needed.ts'
import { consentForm, termsInWords } from './consent.page.ts'
import {
  acceptedPage,
  type BeforeStart,
  completedPage,
  elsewherePage,
  expiredPage,
  pendingPage,
  revokedPage,
} from './invitation.page.ts'
import { practiceLink } from './practice.page.ts'
import { prepareSection } from './prepare.page.ts'
import { begunPage, consentMissingPage, progressPage } from './question.page.ts'

/** Notice: a late or empty answer, or a refused start or question. */
type PageNotices = {
  isLate?: boolean
  isUnanswered?: boolean
  linkSent?: LinkSent | undefined
  refusal?: SessionProblem | undefined
}

/** A request to a page of an invite. */
type PageRequest = Pick<FastifyRequest<{ Params: { token: string } }>, 'params' | 'headers'>

export const viewOf = (
  { invite }: CandidateSession,
  request: PageRequest,
  { languages, secretKeys }: CandidateSettings,
): View => {
  const { token } = request.params
  const t = textsFor(languages, invite, request)
  return { t, invite, token, proof: signForm(secretKeys, token), languages: selectableLanguages(languages, invite) }
}

/** Page for the current state of the invite. */
export async function choosePage(
  session: CandidateSession,
  request: PageRequest,
  settings: CandidateSettings,
  notices: PageNotices = {},
): Promise<Page> {
  const { invite } = session
  const view = viewOf(session, request, settings)
  switch (invite.status) {
    case 'completed': {
      const result = session.submission && (await findOwnResult(session.ctx, session.submission.id))
      return completedPage(view, result, (await signReturnUrl(session.ctx, invite)) !== null)
    }
    case 'expired':
      return expiredPage(view)
    case 'revoked':
      return revokedPage(view, declinedAtOf(invite) !== null)
    default: {
      if (invite.status === 'started' && !settings.playerUrl) return chooseStarted(view, session, settings, notices)
      const player = invite.status === 'started' ? playerAddress(settings, invite) : null
      if (player !== null) return elsewherePage(view, player)
      const facts = await findAssessmentFacts(session.ctx, invite)
      const before = { facts, computer: computerNeeded(view, request.headers, notices.linkSent) }
      if (!settings.playerUrl) return chooseBeforeStart(view, session, { settings, notices, before })
      if (invite.status === 'pending') return pendingPage(view, before, null)
      return acceptedPage(view, before, button(view, 'start', view.t.text('invitation.start')))
    }
  }
}

/** URL of the external player; null if there is none, or if the invite can't be taken. */
export function playerAddress(
  { playerUrl, secretKeys }: CandidateSettings,
  invite: { id: string; assessmentSession: string | null },
): string | null {
  if (!playerUrl || !invite.assessmentSession) return null
  const url = new URL(playerUrl)
  url.searchParams.set('session', signSession(secretKeys, { inviteId: invite.id, session: invite.assessmentSession }))
  return url.href
}

type BeforeStartFacts = { settings: CandidateSettings; notices: PageNotices; before: BeforeStart }

async function chooseBeforeStart(
  view: View,
  session: CandidateSession,
  { settings, notices, before }: BeforeStartFacts,
): Promise<Page> {
  const { invite, submission } = session
  const preparation = await readPreparation(session)
  const terms = await readTerms(view, session, preparation.needs, settings)
  if (invite.status === 'pending') return pendingPage(view, before, termsInWords(view, terms))
  const practice = practiceLink(view, (await listPractice(session)).length)
  if (!submission || !hasConsented(submission, preparation.needs))
    return acceptedPage(view, before, html`${consentForm(view, terms)}${practice}`)
  const preparing = prepareSection(view, { preparation, facts: before.facts, submission, refusal: notices.refusal })
  const agreed = html`<details class="mt-8"><summary class="quiet">${view.t.text('invitation.agreed')}</summary>${termsInWords(view, terms)}</details>`
  return withScript(acceptedPage(view, before, html`${practice}${preparing}\n${agreed}`, true))
}

async function chooseStarted(
  view: View,
  session: CandidateSession,
  settings: CandidateSettings,
  notices: PageNotices,
): Promise<Page> {
  const { submission } = session
  if (!submission) return begunPage(view)
  const { needs } = await readPreparation(session)
  const terms = await readTerms(view, session, needs, settings)
  if (!submission.consentAt) return consentMissingPage(view, submission.deadlineAt !== null, consentForm(view, terms))
  const progress = await readProgress({ ...session, submission })
  const now = session.ctx.deps.clock()
  const pictures = await readPictures(session, view, progress.open)
  const { isLate = false, isUnanswered = false, refusal } = notices
  return progressPage({ view, submission, progress, terms, now, pictures, isLate, isUnanswered, refusal })
}

const readTerms = async (
  view: View,
  session: CandidateSession,
  needs: Needs,
  { keptDays, webcam }: CandidateSettings,
): Promise<ConsentTerms> => ({
  needs,
  keptDays,
  webcam,
  addition: await findOwnText(session, view, needs),
})

/** The organization's addition to the terms, as agreed or as offered; none during the assessment, where no page shows it. */
async function findOwnText(
  { ctx, invite, submission }: CandidateSession,
  { t }: View,
  needs: Needs,
): Promise<ConsentTerms['addition']> {
  if (invite.status === 'started' && submission?.consentAt) return null
  if (submission && hasConsented(submission, needs)) return findAgreedText(ctx, submission)
  return findConsentText(ctx, t.language, invite.organization.language)
}

/** The pictures of the open question, with their sizes. */
const readPictures = async ({ ctx }: CandidateSession, view: View, open: OpenQuestion | undefined): Promise<Pictures> =>
  picturesOf(`${pathOf(view)}/pictures`, await readSizes(ctx, open ? [{ script: open.script, spec: open.version?.spec }] : []))
