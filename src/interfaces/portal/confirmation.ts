import { type Html, html } from '../../http/html.ts'

/** A button for what is not done by accident: it asks first. @param address where it is done. */
export const confirmation = (label: string, question: string, address: string): Html => html`<details>
<summary>${label}</summary>
<form method="post" action="${address}">
<p>${question}</p>
<button class="danger">${label}</button>
</form>
</details>`
