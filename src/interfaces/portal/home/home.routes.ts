import type { FastifyInstance } from 'fastify'

import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { countDeadAddresses } from '../../../domain/invites/dead-addresses.ts'
import { readOverview } from '../../../domain/invites/overview/read-overview.ts'
import { readOwnOverview } from '../../../domain/invites/overview/read-own-overview.ts'
import { countAnswersWithoutGrader } from '../../../domain/submissions/grading/answers-without-grader.ts'
import { countQueues, findOldestWaiting } from '../../../domain/submissions/grading/queue.ts'
import { listResults } from '../../../domain/submissions/grading/results.ts'
import { hasGradingLanguages } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { html } from '../../../html/html.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { deleteTestData, NOTICES } from '../test-data/test-data.page.ts'
import { homePage, inviteButton, organizationHome, type Waiting } from './home.page.ts'
import { memberAction, memberHome, memberSubtitle } from './member-home.page.ts'

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', async (request, reply) => {
    const { ctx, signedIn } = request
    const name = signedIn?.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)?.user.firstName ?? ''
    const grades = may(ctx, 'grade')
    const myLanguages = !may(ctx, 'read') && (await hasGradingLanguages(ctx))
    const queues = grades ? await countQueues(ctx, { myLanguages }) : []
    const longest = queues.findLast(({ queue }) => queue !== 'release' && queue !== 'others')
    const waiting = grades ? { queues, count: longest?.count ?? 0, since: await findOldestWaiting(ctx) } : null
    const content = may(ctx, 'read') ? await organizationHomePage(ctx, waiting) : await memberHomePage(ctx, waiting)
    const deletion = ctx.mode === 'test' && may(ctx, 'delete_test_data') && deleteTestData(ctx)
    const notice = NOTICES.get(queryOf(request).get('done') ?? '')
    return show(request, reply, homePage({ ...content, name, body: html`${content.body}${deletion}`, notice }))
  })
}

const organizationHomePage = async (ctx: Context, waiting: Waiting | null) => ({
  subtitle: 'What needs your attention, and the last 30 days.',
  actions: inviteButton(ctx),
  body: organizationHome(
    ctx,
    {
      ...(await readOverview(ctx)),
      deadAddresses: await countDeadAddresses(ctx),
      withoutGrader: await countAnswersWithoutGrader(ctx),
    },
    waiting,
  ),
})

async function memberHomePage(ctx: Context, waiting: Waiting | null) {
  const newest = may(ctx, 'read_as_client') ? await listResults(ctx, {}, { number: 1, size: 1 }) : null
  const results = newest?.items.map(({ result }) => ({ count: newest.total, newest: result.releasedAt }))[0] ?? null
  const ownFacts = { ...(await readOwnOverview(ctx)), waiting, results }
  return { subtitle: memberSubtitle(ownFacts), actions: memberAction(ctx, ownFacts), body: memberHome(ctx, ownFacts) }
}
