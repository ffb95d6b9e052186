import type { AtsKeySummary, ConnectionDetail } from '../../../domain/ats/connections.ts'
import type { Context, KeyMode } from '../../../domain/context.ts'
import type { Ats } from '../../../domain/ports/ats-settings.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time } from '../kit/formatting.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { copyBox, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

const PATH = 'settings/ats'

export const ATS_SYSTEMS: Record<Ats, { name: string; howTo: string; theirs?: string; settings: string[] }> = {
  greenhouse: {
    name: 'Greenhouse',
    settings: ['ATS_GREENHOUSE'],
    howTo:
      'Give the key to your Greenhouse account manager, who enters it. Then a stage with an assessment can be added to the plan of a job.',
  },
  ashby: {
    name: 'Ashby',
    settings: ['ATS_ASHBY'],
    howTo:
      'In Ashby, open the setup of the integration, paste this key and press refresh. Then create a key there with the permission candidatesWrite, and enter it here.',
    theirs: 'Needed before assessments can be ordered: results are reported back with it.',
  },
  recruitee: {
    name: 'Recruitee',
    settings: ['ATS_RECRUITEE', 'ATS_RECRUITEE_SECRET'],
    howTo: 'In Recruitee, open the setup of the integration and paste this key.',
  },
}

const NOTICES = new Map([
  ['revoked', 'The key is revoked and no longer works.'],
  ['entered', 'The key is saved. Send a test to see whether it works.'],
])

/** @property connections null if the operator has not switched the system on. */
type Facts = { ctx: Context; systems: { ats: Ats; connections: ConnectionDetail[] | null }[]; done: string }

export const atsPage = (form: Form, { ctx, systems, done }: Facts): Page => ({
  title: 'Recruiting systems',
  subtitle: 'Invite candidates from your recruiting system, and see their results there.',
  notice: NOTICES.get(done),
  body: html`${mistakes(form)}${systems.map(({ ats, connections }) => {
    if (connections === null) return switchedOffPanel(ats)
    const status = statusOf(ats, connections)
    return panel(
      ats,
      html`<span class="flex items-center gap-3">${ATS_SYSTEMS[ats].name}${badge(status)}</span>`,
      html`<p class="hint mb-4">${ATS_SYSTEMS[ats].howTo}</p>
${connections.length > 0 && html`<div class="mb-5 grid gap-4">${connections.map((connection) => connectionPart(ctx, connection))}</div>`}
${generateKeyForm(ctx, ats, status)}
${ATS_SYSTEMS[ats].theirs && theirKeyForm(form, ctx, ats)}`,
    )
  })}`,
})

const switchedOffPanel = (ats: Ats): Html => {
  const { name, settings } = ATS_SYSTEMS[ats]
  return panel(
    ats,
    html`<span class="flex items-center gap-3">${name}${badge('switched off')}</span>`,
    html`<p>${name} is switched off on this installation. To use it, ask the operator of this service to become a ${name} partner and to set ${settings.map((setting, i) => html`${i > 0 && ' and '}<code>${setting}</code>`)}. The steps are in <code>docs/ats.md</code>, under “For operators”.</p>`,
  )
}

function statusOf(ats: Ats, connections: ConnectionDetail[]): 'connected' | 'needs a key' | 'not connected' {
  const inUse = connections.filter(({ keys }) => keys.some(({ revokedAt }) => revokedAt === null))
  if (inUse.length === 0) return 'not connected'
  return !ATS_SYSTEMS[ats].theirs || inUse.some(({ atsApiKeyLastFour }) => atsApiKeyLastFour) ? 'connected' : 'needs a key'
}

const generateKeyForm = (ctx: Context, ats: Ats, status: string): Html =>
  html`<form method="post" action="${pathOf(ctx, `${PATH}/${ats}/keys`)}">${onceField()}
<div class="flex flex-wrap gap-2"><button class="${status === 'not connected' ? 'btn btn-primary' : 'btn'}" name="mode" value="live">Generate a live key</button><button class="btn" name="mode" value="test">Generate a test key</button></div>
<p class="hint mt-2">Invites created with a test key send no emails.</p>
</form>`

const theirKeyForm = (form: Form, ctx: Context, ats: Ats): Html =>
  html`<form class="mt-5" method="post" action="${pathOf(ctx, `${PATH}/${ats}/their-key`)}">
${field(form, { name: 'theirKey', label: `${ATS_SYSTEMS[ats].name}’s key`, type: 'password', hint: ATS_SYSTEMS[ats].theirs ?? '' })}
<div class="flex flex-wrap gap-2"><button class="btn btn-primary" name="mode" value="live">Save for live invites</button><button class="btn" name="mode" value="test">Save for test invites</button></div>
</form>`

const connectionPart = (
  ctx: Context,
  { id, ats, mode, keys, atsApiKeyLastFour }: ConnectionDetail,
): Html => html`<div class="rounded-box border border-base-300 p-4">
<div class="mb-2 flex flex-wrap items-center gap-2"><h3 class="mt-0" id="${`${ats}-${mode}`}">${mode === 'test' ? 'For test invites' : 'For live invites'}</h3><div class="ml-auto">${linkButton(pathOf({ ...ctx, mode }, `${PATH}/connections/${id}`), 'See orders and calls, or send a test', undefined, 'small')}</div></div>
${keys.length > 0 && keyTable(ctx, `${ats}-${mode}`, mode, keys)}
${ATS_SYSTEMS[ats].theirs && html`<p class="mt-3 text-sm">${atsApiKeyLastFour ? html`${ATS_SYSTEMS[ats].name}’s key: <code>…${atsApiKeyLastFour}</code>` : `${ATS_SYSTEMS[ats].name}’s key is missing.`}</p>`}
</div>`

const keyTable = (ctx: Context, heading: string, mode: KeyMode, keys: AtsKeySummary[]): Html =>
  table(
    heading,
    ['Key', 'Created by', 'Created', 'Last used', 'Status'],
    keys.map((key) => [
      html`<code>ak_${mode}_…${key.lastFour}</code>`,
      makerOf(key),
      time(key.createdAt),
      key.lastUsedAt ? time(key.lastUsedAt) : 'never',
      key.revokedAt
        ? html`revoked ${time(key.revokedAt)}`
        : confirmButton({
            label: 'Revoke',
            question: 'Revoke this key?',
            consequence: 'It stops working at once. Unless there is another key, nothing more is reported. This can’t be undone.',
            address: pathOf(ctx, `${PATH}/keys/${key.id}/revoke`),
          }),
    ]),
  )

const makerOf = ({ createdBy }: AtsKeySummary): string => (createdBy ? displayNameOf(createdBy.user) : 'the operator')

/** The key's value, shown only once. */
export const atsKeyPage = (ctx: Context, ats: Ats, key: string): Page => ({
  title: `Key for ${ATS_SYSTEMS[ats].name}`,
  body: html`<section class="panel">
<p>${ATS_SYSTEMS[ats].howTo} Copy it now: it is not shown again.</p>
<div class="mt-4">${copyBox('key', key)}</div>
${linkButton(pathOf(ctx, PATH), 'Back to recruiting systems', undefined, 'main')}
</section>`,
})
