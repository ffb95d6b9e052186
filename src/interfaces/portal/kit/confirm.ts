import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { valuesOf } from './forms.ts'
import { type Page, pathOf, show } from './layout.ts'
import { findFormPage } from './same-origin.ts'

// What can't be undone is asked about first: by a dialog where scripts run (browser/confirm.ts), else by a page. Both say what the button's form
// has with it, which comes from a page of our own: another site's forms are refused.

export type Question = {
  /** What the button says, here and where it is asked. */
  label: string
  question: string
  /** What follows from it, and whether it can be undone. */
  consequence: string
  /** The address of the form that does it. */
  address: string
  /** What that form has besides. */
  hidden?: Html | undefined
  look?: keyof typeof LOOKS
}

const LOOKS = {
  danger: 'btn btn-sm text-error',
  menu: 'btn btn-sm btn-ghost text-error w-full justify-start',
  plain: 'btn btn-sm',
}

/** The home of the organization that an address belongs to. */
const HOME = new RegExp(`^${PORTAL_PREFIX}(?:/test)?/[^/]+/`)
export const homeIn = (address: string): string => HOME.exec(address)?.[0] ?? `${PORTAL_PREFIX}/`

/** A button that asks first. */
export const confirmation = ({ label, question, consequence, address, hidden, look = 'danger' }: Question): Html =>
  html`<form method="post" action="${`${homeIn(address)}confirm`}" data-confirm>
<input type="hidden" name="ask_to" value="${address}">
<input type="hidden" name="ask_label" value="${label}">
<input type="hidden" name="ask_question" value="${question}">
<input type="hidden" name="ask_consequence" value="${consequence}">${hidden}
<button class="${LOOKS[look]}">${label}</button>
</form>`

/** The page that asks where no scripts run. */
export function confirmRoutes(app: FastifyInstance): void {
  app.post('/confirm', async (request, reply) => {
    const { ctx } = request
    const values = valuesOf(request)
    const to = values.get('ask_to') ?? ''
    if (!to.startsWith(pathOf(ctx))) return reply.redirect(pathOf(ctx), 303)
    return show(request, reply, confirmPage(values, { to, back: cameFrom(request) }))
  })
}

function confirmPage(values: URLSearchParams, { to, back }: { to: string; back: string }): Page {
  const said = (name: string) => values.get(`ask_${name}`) ?? ''
  const others = [...values].filter(([name]) => !name.startsWith('ask_'))
  return {
    title: said('question'),
    body: html`<form class="panel max-w-xl" method="post" action="${to}">
<p class="mb-5">${said('consequence')}</p>
${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<div class="flex flex-wrap gap-2"><button class="btn btn-error">${said('label')}</button><a class="btn" href="${back}">Cancel</a></div>
</form>`,
  }
}

/** The page of ours that a form was sent from; the first page where that is not known. */
function cameFrom(request: FastifyRequest): string {
  const [page, home] = [findFormPage(request), pathOf(request.ctx)]
  return page?.startsWith(home) ? page : home
}
