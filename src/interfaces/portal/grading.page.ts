import { may } from '../../domain/access/permissions.ts'
import type { Context } from '../../domain/context.ts'
import type { Listing } from '../../domain/page.ts'
import { candidateName } from '../../domain/submissions/blind.ts'
import { roundOf } from '../../domain/submissions/grading/access.ts'
import { freePlace } from '../../domain/submissions/grading/assign.ts'
import { nameOf } from '../../domain/submissions/grading/grades.ts'
import type { Queued, Whose } from '../../domain/submissions/grading/queue.ts'
import { type Html, html } from '../../http/html.ts'
import { choice, type Form, mistakes } from './forms.ts'
import { type Page, pathOf } from './layout.ts'
import { pager } from './paging.ts'
import { table } from './table.ts'
import { time } from './wording.ts'

const LABELS: Record<Whose, string> = { mine: 'Mine', nobody: 'Nobody’s', all: 'All' }
const NOTHING: Record<Whose, string> = {
  mine: 'Nothing that you grade waits.',
  nobody: 'Nothing waits for a grader.',
  all: 'Nothing waits to be graded.',
}

type Facts = {
  ctx: Context
  whose: Whose
  queues: Whose[]
  assessments: { id: string; name: string }[]
  list: Listing<Queued>
}

/** What was handed in and waits to be graded. */
export function gradingPage(form: Form, { ctx, whose, queues, assessments, list }: Facts): Page {
  const address = pathOf(ctx, 'grading')
  const assessment = form.values.get('assessment') ?? ''
  const query = new URLSearchParams({ whose, ...(assessment && { assessment }) })
  return {
    title: 'Grading',
    body: html`${mistakes(form)}<nav class="sections" aria-label="Queues">
${queues.map((queue) => tab(address, queue, whose))}
${may(ctx, 'read') && html`<a href="${pathOf(ctx, 'results')}">Released results</a>`}
</nav>
<section class="panel" aria-labelledby="queue-heading">
<h2 id="queue-heading">Waiting longest first</h2>
<form class="filter" method="get" action="${address}">
<input type="hidden" name="whose" value="${whose}">
${choice(form, { name: 'assessment', label: 'Assessment', options: [['', 'Any'], ...assessments.map(({ id, name }): [string, string] => [id, name])] })}
<button class="quiet">Show</button>
</form>
${list.items.length > 0 ? rows(ctx, list.items) : html`<p>${list.total > 0 ? 'None here.' : NOTHING[whose]}</p>`}
${pager(address, query, list)}
</section>`,
  }
}

const tab = (address: string, queue: Whose, current: Whose): Html =>
  queue === current
    ? html`<a href="${`${address}?whose=${queue}`}" aria-current="page">${LABELS[queue]}</a>\n`
    : html`<a href="${`${address}?whose=${queue}`}">${LABELS[queue]}</a>\n`

const rows = (ctx: Context, items: Queued[]): Html =>
  table(
    'queue-heading',
    ['Candidate', 'Assessment', 'Waiting since', 'Graded by', 'Action'],
    items.map((submission) => {
      const { id, assessment, submittedAt, grader, secondGrader } = submission
      const name = candidateName(ctx, submission)
      const address = pathOf(ctx, `grading/${id}`)
      const graders = [grader, secondGrader].flatMap((member) => (member ? [nameOf(member.user)] : []))
      return [
        roundOf(ctx, submission) === null ? name : html`<a href="${address}">${name}</a>`,
        assessment.name,
        submittedAt && time(submittedAt),
        graders.join(', ') || 'nobody yet',
        mayTake(ctx, submission) &&
          html`<form method="post" action="${`${address}/take-over`}"><button class="plain" aria-label="${`Take over ${name}`}">Take over</button></form>`,
      ]
    }),
  )

/** Whether it is theirs to take, and not theirs yet. */
export function mayTake(ctx: Context, submission: Parameters<typeof freePlace>[0]): boolean {
  const isMine = ctx.actor.kind === 'member' && [submission.graderId, submission.secondGraderId].includes(ctx.actor.id)
  return !isMine && (freePlace(submission) !== null || may(ctx, 'read'))
}
