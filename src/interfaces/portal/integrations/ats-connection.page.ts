import type { AtsCall } from '../../../domain/ats/calls.ts'
import type { ConnectionDetail } from '../../../domain/ats/connections.ts'
import type { OrderSummary } from '../../../domain/ats/orders.ts'
import { EXPIRED_ROWS } from '../../../domain/concurrency/expired-rows.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { time } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { sizedPager } from '../kit/paging.ts'
import { empty } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ATS_SYSTEMS } from './ats.page.ts'

const NOTICES = new Map([
  ['tested', 'The test is running: its result appears under Recent calls in a moment.'],
  ['reported', 'The report is being sent again.'],
])

type Facts = {
  ctx: Context
  connection: ConnectionDetail
  orders: ListPage<OrderSummary>
  calls: ListPage<AtsCall>
  done: string
}

export function atsConnectionPage(form: Form, { ctx, connection, orders, calls, done }: Facts): Page {
  const address = pathOf(ctx, `settings/ats/connections/${connection.id}`)
  const { ats, mode, keys } = connection
  return {
    title: `${ATS_SYSTEMS[ats].name}, ${mode === 'test' ? 'test' : 'live'} invites`,
    trail: [['Recruiting systems', pathOf(ctx, 'settings/ats')]],
    subtitle: 'Orders from there, and the calls between both systems.',
    actions: html`<form method="post" action="${`${address}/test`}">${onceField()}<button class="btn btn-primary">${icon('send')}Send a test</button></form>`,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${panel(
      'test',
      'The test',
      html`<p class="hint">Calls ${ATS_SYSTEMS[ats].name} as a report would, and changes nothing in the recruiting system. Status 401 or 403 means that the key is not accepted. No answer means that ${ATS_SYSTEMS[ats].name} can’t be reached.</p>
${keys.every(({ revokedAt }) => revokedAt) && html`<p>All keys are revoked: nothing is sent until you generate a new one.</p>`}`,
    )}${panel(
      'orders',
      'Orders',
      html`${orders.items.length === 0 ? empty('plug', `There are no orders yet. They arrive when a candidate reaches a stage with an assessment in ${ATS_SYSTEMS[ats].name}.`) : orderTable(ctx, orders.items)}
${sizedPager(address, form.values, orders, ['order', 'orders'])}`,
    )}${panel(
      'calls',
      'Recent calls',
      html`<p class="hint mb-3">Calls are kept for ${EXPIRED_ROWS.atsCalls.days} days.</p>
${calls.items.length === 0 ? empty('plug', 'There are no calls yet. Send a test to see one.') : callTable(calls.items, ATS_SYSTEMS[ats].name)}`,
    )}`,
  }
}

const orderTable = (ctx: Context, orders: OrderSummary[]): Html =>
  table(
    'orders-heading',
    ['Candidate', 'Assessment', 'Ordered', 'Reported', 'Problem', 'Profile'],
    orders.map((order) => [
      html`<a href="${pathOf(ctx, `invites/${order.inviteId}`)}">${order.invite?.recipientName || order.invite?.recipientEmail}</a>`,
      order.invite?.assessment.name,
      time(order.createdAt),
      formatReport(order),
      order.lastError !== '' &&
        html`${order.lastError}<form method="post" action="${pathOf(ctx, `settings/ats/orders/${order.id}/report`)}">${onceField()}<p><button class="btn">Send again</button></p></form>`,
      order.profileUrl !== '' && html`<a href="${order.profileUrl}" rel="noreferrer">Open</a>`,
    ]),
  )

function formatReport({ cancelledAt, reportedStatus, reportedAt, reports: [waiting] }: OrderSummary): Value {
  if (cancelledAt) return html`${badge('revoked')} in the recruiting system ${time(cancelledAt)}`
  const last = reportedStatus && reportedAt ? html`${formatStatus(reportedStatus)} ${time(reportedAt)}` : html`nothing yet`
  return waiting ? html`${last}, next attempt ${time(waiting.nextAttemptAt)}` : last
}

const callTable = (calls: AtsCall[], system: string): Html =>
  table(
    'calls-heading',
    ['When', 'From', 'Call', 'Status', 'Duration', 'Error', 'Response'],
    calls.map((call) => [
      time(call.createdAt),
      call.isInbound ? system : 'this service',
      call.isInbound ? call.name : formatStatus(call.name),
      call.status ?? 'none',
      `${call.milliseconds.toLocaleString('en')} ms`,
      call.error,
      call.answer && html`<span class="preformatted">${call.answer}</span>`,
    ]),
  )

const STATUSES = new Map([
  ['undelivered', 'invitation not delivered'],
  ['in_review', 'submitted'],
])

const formatStatus = (status: string): string => STATUSES.get(status) ?? status
