import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'

// Forms that open above the page with the browser's popovers, without scripts. Browsers without popovers show them at the end of the page.

/** @property id of the form. @property icon beside the label. */
export type PopupButton = { id: string; label: string; icon: IconName }

/** Classes of a menu button. */
export const MENU_ITEM = 'btn btn-ghost btn-sm w-full justify-start'

export const popupButton = ({ id, label, icon: name }: PopupButton, look = MENU_ITEM): Html =>
  html`<button type="button" class="${look}" popovertarget="${id}">${icon(name)}${label}</button>\n`

/**
 * A form above the page.
 *
 * @param isLinkUsable true if the form was refused: it is then part of the page.
 */
export const popup = (id: string, heading: string, body: Html, isOpen = false): Html =>
  isOpen
    ? html`<section class="panel popup" id="${id}" aria-labelledby="${id}-heading">
<h2 class="mb-4" id="${id}-heading">${heading}</h2>
${body}
</section>
`
    : html`<div class="panel popup" id="${id}" popover role="dialog" aria-labelledby="${id}-heading">
<div class="mb-4 flex items-center gap-3"><h2 id="${id}-heading" tabindex="-1" autofocus>${heading}</h2><button type="button" class="btn btn-ghost btn-square btn-sm ml-auto" popovertarget="${id}" popovertargetaction="hide" aria-label="Close">${icon('x')}</button></div>
${body}
</div>
`
