import { pickProctoring } from '../../../domain/assessments/assessment-input.ts'
import { type Assessment, findInstructions } from '../../../domain/assessments/assessments.ts'
import { readSizes } from '../../../domain/assets/assets.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import { findBrand } from '../../../domain/brand/find-brand.ts'
import { findConsentText } from '../../../domain/brand/page-texts.ts'
import type { Context } from '../../../domain/context.ts'
import { type CandidateQuestion, listCandidateQuestions } from '../../../domain/invites/candidate-moves.ts'
import { withDefaults } from '../../../domain/invites/new-invite.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../../domain/limits.ts'
import { findMemberLanguages } from '../../../domain/members/find-member-languages.ts'
import { isTranscribing } from '../../../domain/organization/transcription.ts'
import { findAssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { REQUIREMENTS, toNeeds } from '../../../domain/submissions/needs.ts'
import { daysAfter } from '../../../domain/time/days.ts'
import { html } from '../../../html/html.ts'
import { portalPathOf } from '../../../http/addresses/links.ts'
import { PREVIEW_SEGMENT, previewPath } from '../../../http/addresses/preview.ts'
import type { ConsentTerms } from '../../../http/pages/consent-terms.ts'
import { type Pictures, picturesOf } from '../../../http/pages/pictures.ts'
import { type LanguageRequest, textsFor } from '../kit/language.ts'
import { type Page, type ShownInvite, type View, withScript } from '../kit/layout.ts'
import type { CandidateSettings } from '../kit/settings.ts'
import { openPage, sentPage } from '../open/open.page.ts'
import { consentForm, termsInWords } from '../pages/consent.page.ts'
import { acceptedPage, type BeforeStart, completedPage, pendingPage, revokedPage } from '../pages/invitation.page.ts'
import { prepareSection } from '../pages/prepare.page.ts'
import { progressPage } from '../pages/question.page.ts'
import { drawPreview, type PreviewPaper } from './preview-paper.ts'
import { progressAt } from './preview-progress.ts'
import { printStep, type Step, type TakingStep } from './step.ts'
import { type TypedQuestion, tryAnswer } from './try-answer.ts'

/** The member who previews, shown as the inviter. */
type Viewer = { firstName: string; lastName: string; email: string }

/** @property typed unsaved edit of the question, shown instead of the stored one. */
type PreviewOptions = {
  assessment: Assessment
  viewer: Viewer
  step: Step
  /** Headers of the viewer's browser, in place of the candidate's. */
  request: LanguageRequest
  typed?: TypedQuestion | undefined
  /** Fields of the tried answer. */
  typedAnswer?: string[] | undefined
}

/** Candidate's page at a step, made from the current assessment. Device checks, photos, and continuous recordings are omitted. */
export async function previewPage(ctx: Context, settings: CandidateSettings, options: PreviewOptions): Promise<Page> {
  const { assessment, viewer, step, typed, typedAnswer, request } = options
  const speaking = await findMemberLanguages(ctx)
  const [instruction] = await findInstructions(ctx, assessment.instructionId ? [assessment.instructionId] : [])
  const questions = await listCandidateQuestions(ctx, { organizationId: ctx.organization.id, assessmentId: assessment.id })
  const now = ctx.deps.clock()
  const limits = withDefaults({})
  const invite: ShownInvite = {
    ...pickProctoring(assessment),
    organization: { ...speaking, ...(await findBrand(ctx, ctx.organization.id)) },
    language: null,
    chosenLanguage: null,
    timeZone: null,
    assessment: {
      ...assessment,
      instruction: instruction ?? null,
      languages: assessment.languageCodes.map((code) => ({ language: { code } })),
    },
    createdBy: { status: 'active', user: viewer },
    recipientName: null,
    customMessage: '',
    expiresAt: daysAfter(now, DEFAULT_EXPIRES_IN_DAYS),
    completedAt: step.at === 'done' ? now : null,
    returnUrl: null,
    questionReplayLimit: limits.questionReplayLimit,
    answerRecordLimit: limits.answerRecordLimit,
    extraTimePercent: 0,
    waivedChecks: [...REQUIREMENTS],
  }
  const token = `${PREVIEW_SEGMENT}/${ctx.organization.id}/${assessment.id}/${printStep(step)}`
  const view: View = { t: textsFor(settings.languages, invite, request), invite, token, proof: '', languages: [] }
  const consentText = await findConsentText(ctx, view.t.language, invite.organization.language)
  const needs = toNeeds(ctx.deps.kinds, invite, questions, await isTranscribing(ctx))
  const terms: ConsentTerms = { needs, keptDays: settings.keptDays, webcam: settings.webcam, addition: consentText }
  if (step.at !== 'taking') {
    const facts = await findAssessmentFacts(ctx, { assessmentId: assessment.id })
    return { ...pageBefore(view, terms, { facts, computer: false }, step), above: banner(ctx, assessment, null) }
  }
  const paper = await drawPreview(ctx, assessment.id, questions, step.paper)
  const question = paper.questions[step.number - 1]
  const points = typed?.points ?? question?.points ?? 0
  const triedQuestion = { assessmentId: assessment.id, questionId: question?.id, typed: typed?.defined ?? null, points }
  const isDefined = typed ? typed.defined !== null : question?.version != null
  const tried = isDefined && typedAnswer ? await tryAnswer(ctx, triedQuestion, typedAnswer) : null
  const pictures = await readPictures(ctx, typed, question)
  const page = takingPage(view, terms, { step, paper, typed, now, pictures, value: tried?.value ?? null })
  const resultText = isDefined && step.openedAt !== null && may(ctx, 'write_assessments') ? (tried?.verdict ?? TRY) : null
  return { ...page, above: banner(ctx, assessment, resultText) }
}

async function readPictures(
  ctx: Context,
  typed: TypedQuestion | undefined,
  stored: CandidateQuestion | undefined,
): Promise<Pictures> {
  const { script = '' } = typed ?? stored ?? {}
  const spec = typed ? typed.defined?.definition.spec : stored?.version?.spec
  return picturesOf(`${portalPathOf({ ...ctx, mode: 'live' })}pictures`, await readSizes(ctx, [{ script, spec }]))
}

function pageBefore(view: View, terms: ConsentTerms, before: BeforeStart, { at }: Exclude<Step, { at: 'taking' }>): Page {
  switch (at) {
    case 'open':
      return openPage(view, { facts: before.facts, terms: termsInWords(view, terms), closesAt: null, emailDomains: [] })
    case 'registered':
      return sentPage(view, { name: '', email: view.invite.createdBy?.user.email ?? '', language: view.t.language })
    case 'invited':
      return pendingPage(view, before, termsInWords(view, terms))
    case 'accepted':
      return acceptedPage(view, before, consentForm(view, terms))
    case 'agreed': {
      const photos = { id_photo: true, face_photo: true }
      const { penaltyPercent } = view.invite.assessment
      const preparation = { needs: terms.needs, photos, missing: [], penaltyPercent }
      return withScript(
        acceptedPage(
          view,
          before,
          prepareSection(view, { preparation, facts: before.facts, submission: { passedChecks: [] }, refusal: undefined }),
          true,
        ),
      )
    }
    case 'done':
      return completedPage(view, null, false)
    case 'declined':
      return revokedPage(view, true)
  }
}

type TakingParts = {
  step: TakingStep
  paper: PreviewPaper
  typed: TypedQuestion | undefined
  now: Date
  pictures: Pictures
  value: unknown
}

function takingPage(view: View, terms: ConsentTerms, { step, paper, typed, now, pictures, value }: TakingParts): Page {
  const { timeLimit, penaltyPercent } = view.invite.assessment
  const deadlineAt = timeLimit > 0 && !typed ? new Date(step.startedAt + timeLimit * 1_000) : null
  const { questionReplayLimit, answerRecordLimit, extraTimePercent } = view.invite
  const submission = {
    deadlineAt,
    isDeadlineOfQuestion: false,
    questionReplayLimit,
    answerRecordLimit,
    extraTimePercent,
    penaltyPercent,
  }
  const progress = progressAt(step, {
    paper,
    typed,
    now,
    value,
    deadlineAt,
    playsLeft: questionReplayLimit,
    attemptsLeft: answerRecordLimit,
  })
  return progressPage({ view, submission, progress, terms, now, pictures, isPreview: true, isLate: false, refusal: undefined })
}

const TRY = 'Try an answer: what it gets is said here.'

/** @param resultText result of the tried answer; null for none. */
const banner = (ctx: Context, { id, name }: Assessment, resultText: string | null) =>
  html`<aside class="bg-warning/10 border-warning border-b-2 border-dashed px-4 py-2 text-sm" aria-label="Preview" data-preview><strong>Preview.</strong> Nothing that you do here is kept or counted, and the check of devices is left out. <span role="status" class="font-medium" data-trial>${resultText}</span> <a href="${previewPath(ctx, id, 'invited')}">From the beginning</a> <span aria-hidden="true">·</span> <a href="${`${portalPathOf({ ...ctx, mode: 'live' })}assessments/${id}`}" target="_top">Back to ${name}</a></aside>
`

/** Page for people who are not signed in, or may not see the preview. */
export const noPreviewPage = (): Page => ({
  language: 'en',
  title: 'No preview',
  body: html`<div class="mx-auto max-w-2xl px-4 py-14"><h1>There is no such preview</h1><p class="mt-3">Sign in to the portal, and open it from the assessment.</p></div>`,
})
