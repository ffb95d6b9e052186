import type { StoppedMails } from '../../../domain/events/event.ts'
import type { Inviter } from '../../../domain/invites/find-contact.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { html } from '../../../html/html.ts'
import { UNSUBSCRIBE_PATH } from '../../../http/addresses/links.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { column, contactNote, notice, type Page } from '../kit/layout.ts'

type Facts = { token: string; inviter: Inviter & { organization: Brand }; stopped: readonly string[] }

/** Page that unsubscribes the reader of a mail. Nothing changes before a button is pressed, because scanners follow links. */
export function unsubscribePage(t: CandidateTexts, { token, inviter, stopped }: Facts): Page {
  const organization = inviter.organization.name
  const isOver = stopped.includes('all')
  const address = `${UNSUBSCRIBE_PATH}/${token}`
  const choice = (scope: StoppedMails, isMain: boolean) =>
    html`<p class="mt-6">${t.text(`unsubscribe.${scope}.text`, { organization })}</p>
<form method="post" action="${scope === 'all' ? `${address}/all` : address}"><button type="submit" class="${`btn mt-3${isMain ? ' btn-primary' : ''}`}">${t.text(`unsubscribe.${scope}.button`)}</button></form>`
  const isStopped = isOver || stopped.includes('reminders')
  return {
    language: t.language,
    brand: inviter.organization,
    title: t.text('unsubscribe.title', { organization }),
    body: column(html`<h1>${isStopped ? t.text('unsubscribe.title', { organization }) : t.text('unsubscribe.heading')}</h1>
${isStopped && notice('info', html`<p>${t.text(`unsubscribe.${isOver ? 'all' : 'reminders'}.done`, { organization })}</p>`)}
${!isStopped && choice('reminders', true)}
${!isOver && choice('all', false)}
${contactNote(t, inviter)}`),
  }
}
