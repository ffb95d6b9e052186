import type { AssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import type { Assessment } from '../../../domain/assessments/assessments.ts'
import { readBands } from '../../../domain/assessments/bands.ts'
import type { ListedQuestion } from '../../../domain/assessments/questions.ts'
import type { AssessmentWarnings } from '../../../domain/assessments/read-warnings.ts'
import type { Structure } from '../../../domain/assessments/structure.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import type { OpenLink } from '../../../domain/open-links/open-links.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { AUDIENCE_LABELS, FORMAT_LABELS, labelOf, labelRequirements } from '../kit/assessment-labels.ts'
import { confirmButton } from '../kit/confirm.ts'
import { breakableAddress, time } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { pager } from '../kit/paging.ts'
import { copyBox, factList, linkButton, moreMenu } from '../kit/parts.ts'
import { deleteTestData } from '../test-data/test-data.page.ts'
import { assessmentHead, inviteButton } from './assessment-head.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { bandsPath } from './bands.page.ts'
import { assessmentWarnings } from './cautions.ts'
import { explainUnavailableKinds } from './kind-form.ts'
import { addQuestionBox, questionCards, readCards } from './question-cards.ts'

/** @property cautions likely mistakes in the setup, shown as warnings. */
export type AssessmentFacts = {
  ctx: Context
  assessment: Assessment
  input: AssessmentInput
  questions: ListPage<ListedQuestion>
  structure: Structure
  cautions: AssessmentWarnings
  /** Null for an assessment by invitation only. */
  openLink: OpenLink | null
}

export function assessmentPage(form: Form, facts: AssessmentFacts & { notice: string | undefined }): Page {
  const { ctx, assessment, notice } = facts
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const importPath = pathOf(ctx, `questions/imports/new?assessment=${assessment.id}`)
  return {
    ...assessmentHead(
      facts,
      html`${linkButton(`${path}/preview`, 'Preview', 'eye')}${may(ctx, 'write_assessments') && moreMenu(secondaryActions(assessment, path))}${inviteButton(ctx, assessment)}`,
    ),
    notice,
    tabs: assessmentTabs(ctx, assessment, 'questions'),
    body: html`${mistakes(form)}${isBlockedByTestInvites(form) && deleteTestData(ctx)}<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
${may(ctx, 'write_assessments') ? questionList(path, facts, { refusal: explainUnavailableKinds(ctx), importPath }) : readList(path, facts)}
<div class="space-y-6">${facts.openLink && openLinkPanel(ctx, assessment, facts.openLink)}${panel(
      'facts',
      'Details',
      html`${details(facts)}
${assessmentWarnings(facts.cautions, assessment.questionCount)}`,
    )}</div>
</div>`,
  }
}

/**
 * Questions with the form of one beside them; on a phone the form alone. The form comes first in the document for keyboard and screen
 * reader users.
 *
 * @param open.currentId the question being edited; undefined for a new one.
 * @param open.side the form. @param open.previewAddress address of the candidate's page with the question.
 */
export function editorPage(
  facts: AssessmentFacts,
  open: { title: string; currentId?: string; side: Html; previewAddress: string },
): Page {
  const { ctx, assessment } = facts
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const importPath = pathOf(ctx, `questions/imports/new?assessment=${assessment.id}`)
  return {
    ...assessmentHead(
      facts,
      html`<a class="btn" href="${open.previewAddress}" target="_blank" data-preview-link>${icon('eye')}Preview</a>`,
    ),
    title: `${open.title}: ${assessment.name}`,
    heading: assessment.name,
    tabs: assessmentTabs(ctx, assessment, 'questions'),
    body: html`<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_26rem]">
<div data-side class="lg:sticky lg:top-4 lg:col-start-2 lg:row-start-1 lg:max-h-[calc(100dvh-2rem)] lg:scroll-pb-24 lg:overflow-y-auto">${open.side}</div>
<div class="space-y-6 max-lg:hidden lg:col-start-1 lg:row-start-1"><div data-preview-place></div>${questionList(path, facts, { refusal: explainUnavailableKinds(ctx), importPath }, open.currentId)}</div>
</div>`,
  }
}

const questionList = (
  path: string,
  { questions, structure }: AssessmentFacts,
  { refusal, importPath }: { refusal: string | undefined; importPath: string },
  currentId?: string,
): Html => html`<section id="order" aria-labelledby="questions-heading">
<div class="mb-3 flex flex-wrap items-center gap-3"><h2 id="questions-heading">Questions</h2><div class="ml-auto flex flex-wrap gap-2">${linkButton(`${path}/library`, 'Add from library', 'book-open', 'small')}${linkButton(importPath, 'Import', 'upload', 'small')}${questions.total > 0 && html`${linkButton(`${path}/sections/new`, 'Add a section', 'layers', 'small')}${linkButton(`${path}/pools/new`, 'Add a pool', 'inbox', 'small')}`}${linkButton('#add', 'Add a question', 'plus', 'small')}</div></div>
${questionCards(path, { questions, structure }, currentId)}
${pager(path, new URLSearchParams(), questions)}
${addQuestionBox(path, refusal)}
</section>`

const openLinkPanel = (ctx: Context, { id }: Assessment, { isOn, url, invitesCreated }: OpenLink): Html =>
  panel(
    'open-link',
    'Open link',
    html`${isOn && url ? copyBox('open-link-address', url) : html`<p class="mb-4">The link is off: nobody can start without an invite.</p>`}
<p>${invitesCreated > 0 && `${formatCount(invitesCreated, 'candidate')} came by it. `}<a href="${pathOf(ctx, `assessments/${id}/open-link`)}">${isOn ? 'QR code and settings' : 'Switch it on'}</a></p>`,
  )

/** For roles that read questions and can't edit them. */
const readList = (
  path: string,
  { questions, structure }: AssessmentFacts,
): Html => html`<section aria-labelledby="questions-heading">
<h2 class="mb-3" id="questions-heading">Questions</h2>
${readCards({ questions, structure })}
${pager(path, new URLSearchParams(), questions)}
</section>`

const secondaryActions = (assessment: Assessment, path: string): Html =>
  html`<form method="post" action="${path}/duplicate">${onceField()}<button class="btn btn-ghost btn-sm w-full justify-start">${icon('files')}Duplicate</button></form>
<form method="post" action="${path}/${assessment.isTemplate ? 'remove-template' : 'save-template'}"><button class="btn btn-ghost btn-sm w-full justify-start">${icon('book-open')}${assessment.isTemplate ? 'Remove from templates' : 'Save as template'}</button></form>
<form method="post" action="${path}/${assessment.archivedAt === null ? 'archive' : 'unarchive'}"><button class="btn btn-ghost btn-sm w-full justify-start">${icon('archive')}${assessment.archivedAt === null ? 'Archive' : 'Unarchive'}</button></form>
${
  assessment.inviteCount === 0
    ? confirmButton({
        label: 'Delete',
        question: `Delete ${assessment.name}?`,
        consequence: 'Its questions are deleted too. This can’t be undone.',
        address: `${path}/delete`,
      })
    : html`<p class="hint border-base-300 border-t px-3 pt-2">Can’t be deleted because it has ${formatCount(assessment.inviteCount, 'invite')}.${assessment.archivedAt === null && ' Archive it to take it out of your lists.'}</p>`
}`

/** True if deleting was refused because of test invites only. */
const isBlockedByTestInvites = ({ issues }: Form): boolean =>
  issues.some((issue) => issue.rule === 'invited' && issue.value === 'test')

const details = ({ ctx, assessment, input }: Pick<AssessmentFacts, 'ctx' | 'assessment' | 'input'>): Html => {
  const rows: [string, string | number | Html | false][] = [
    ['Question format', labelOf(FORMAT_LABELS, input.defaultQuestionFormat)],
    ['Answer format', labelOf(FORMAT_LABELS, input.defaultAnswerFormat)],
    [
      'Graded by',
      `${input.secondGrader ? `two graders${input.thirdGrader ? ', and a third where they differ' : ''}` : 'one grader'}${input.assignsGraders ? ', assigned by language' : ''}${input.blindGrading ? ', blind: names and photos are hidden' : ''}`,
    ],
    ['Practice', input.practice && 'an example of each kind, before the start'],
    ['Wrong choices', input.penaltyPercent > 0 && `cost ${input.penaltyPercent} % of the points`],
    [
      'Release',
      input.releaseAutomatically
        ? `automatically, if everything is auto-scored${input.releaseToCandidate ? '; candidates see it' : ''}`
        : html`by hand, one by one${may(ctx, 'write_assessments') && html` (<a href="${pathOf(ctx, `assessments/${assessment.id}/edit`)}">change</a>)`}`,
    ],
    [
      'Bands',
      html`${list(readBands(assessment.bands).map(({ name, from }) => `${name} from ${from} %`))}${may(ctx, 'write_assessments') && html` (<a href="${pathOf(ctx, bandsPath(assessment.id))}">bands and knock-outs</a>)`}`,
    ],
    ['Requirements', list(labelRequirements(input))],
    ['Audience', labelOf(AUDIENCE_LABELS, input.audience)],
    ['Categories', filterLinks(ctx, 'category', input.categories)],
    ['Skills', filterLinks(ctx, 'skill', input.skillTypes)],
    ['Tags', list(input.tags)],
    ['Clients', html`<span class="wrap-break-word">${breakableAddress(list(input.clients))}</span>`],
    [
      'Instructions',
      input.instruction
        ? html`${input.instructionTitle && html`<strong>${input.instructionTitle}</strong><br>`}<span class="script block text-start" lang="" dir="auto">${input.instruction}</span>`
        : 'none',
    ],
    ['Created', time(assessment.createdAt)],
    ['Changed', time(assessment.updatedAt)],
  ]
  return factList(rows, 'aside')
}

/** Names, each linked to the assessments that have it. */
const filterLinks = (ctx: Context, filter: 'category' | 'skill', names: string[]): Html | string =>
  names.length === 0
    ? 'none'
    : html`${names.map((name, i) => html`${i > 0 && ', '}<a href="${pathOf(ctx, 'assessments')}?${new URLSearchParams({ [filter]: name }).toString()}">${name}</a>`)}`

const list = (names: string[]): string => names.join(', ') || 'none'
