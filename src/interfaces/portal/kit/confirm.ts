import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { valuesOf } from './forms.ts'
import { type Page, pathOf, show } from './layout.ts'
import { findFormPage } from './same-origin.ts'

// Irreversible actions are confirmed first: in a dialog (browser/confirm.ts) or, without scripts, on a page. Both show what the button's
// form sends. The form has to come from one of our own pages: those of other sites are refused.

export type Confirmation = {
  /** The button's label, on both pages. */
  label: string
  question: string
  /** Effects of the action, and if it can be undone. */
  consequence: string
  /** The address of the form that acts. */
  address: string
  /** Other fields of that form. */
  hidden?: Html | undefined
  look?: keyof typeof LOOKS
}

const LOOKS = {
  danger: 'btn btn-sm text-error',
  menu: 'btn btn-sm btn-ghost text-error w-full justify-start',
  plain: 'btn btn-sm',
}

/** Home address of the organization that an address belongs to. */
const HOME = new RegExp(`^${PORTAL_PREFIX}(?:/test)?/[^/]+/`)
export const homeAddressIn = (address: string): string => HOME.exec(address)?.[0] ?? `${PORTAL_PREFIX}/`

export const confirmButton = ({ label, question, consequence, address, hidden, look = 'danger' }: Confirmation): Html =>
  html`<form method="post" action="${`${homeAddressIn(address)}confirm`}" data-confirm>
<input type="hidden" name="ask_to" value="${address}">
<input type="hidden" name="ask_label" value="${label}">
<input type="hidden" name="ask_question" value="${question}">
<input type="hidden" name="ask_consequence" value="${consequence}">${hidden}
<button class="${LOOKS[look]}">${label}</button>
</form>`

/** Confirmation page for browsers without scripts. */
export function confirmRoutes(app: FastifyInstance): void {
  app.post('/confirm', async (request, reply) => {
    const { ctx } = request
    const values = valuesOf(request)
    const target = values.get('ask_to') ?? ''
    if (!target.startsWith(pathOf(ctx))) return reply.redirect(pathOf(ctx), 303)
    return show(request, reply, confirmPage(values, { target, source: findSourcePage(request) }))
  })
}

function confirmPage(values: URLSearchParams, { target, source }: { target: string; source: string }): Page {
  const field = (name: string) => values.get(`ask_${name}`) ?? ''
  const otherValues = [...values].filter(([name]) => !name.startsWith('ask_'))
  return {
    title: field('question'),
    body: html`<form class="panel max-w-xl" method="post" action="${target}">
<p class="mb-5">${field('consequence')}</p>
${otherValues.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<div class="flex flex-wrap gap-2"><button class="btn btn-error">${field('label')}</button><a class="btn" href="${source}">Cancel</a></div>
</form>`,
  }
}

/** The portal's page that sent the form, or the home page if that is unknown. */
function findSourcePage(request: FastifyRequest): string {
  const [page, home] = [findFormPage(request), pathOf(request.ctx)]
  return page?.startsWith(home) ? page : home
}
