import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { OwnershipOffer } from '../../../domain/members/ownership-offers.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Confirmation, confirmButton } from '../kit/confirm.ts'
import { time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'

/** Until an owner is named, every admin acts as one. */
export const noOwnerPanel = (ctx: Context): Html => html`<section class="panel" aria-labelledby="owners-heading">
<h2 class="mb-2" id="owners-heading">No owner yet</h2>
<p class="mb-4">Owners decide how members sign in, who the owners are, and what is erased. Until there is one, every admin does.</p>
${
  may(ctx, 'manage_security') &&
  confirmButton({
    label: 'Become the owner',
    question: 'Become the owner of this organization?',
    consequence: 'Other admins can then no longer change how members sign in. They stay admins.',
    address: pathOf(ctx, 'members/become-owner'),
    look: 'plain',
  })
}
</section>`

/** @property offer pending offer of ownership to the member. */
export type OwnershipFacts = { isOwnerNamed: boolean; offer: OwnershipOffer | null }

/** Actions for owners that grant or end ownership. */
export function ownershipActions(ctx: Context, member: Member, { isOwnerNamed, offer }: OwnershipFacts): Html | false {
  const address = pathOf(ctx, `members/${member.id}`)
  if (!may(ctx, 'manage_security') || !isOwnerNamed || !member.credentialId) return false
  const ask = (question: Pick<Confirmation, 'label' | 'question' | 'consequence'>, action: string) =>
    html`<div class="mt-3">${confirmButton({ ...question, address: `${address}/${action}`, look: 'plain' })}</div>`
  if (member.portalRoles.includes('owner'))
    return ask(
      {
        label: 'End ownership',
        question: `End the ownership of ${member.email}?`,
        consequence: 'They stay an admin, and get an email.',
      },
      'end-ownership',
    )
  if (offer)
    return html`<p class="mt-4 mb-2">${offer.from} has offered them ownership, until ${time(offer.expiresAt)}.</p>
<form method="post" action="${address}/withdraw-ownership"><button class="btn btn-sm">Withdraw the offer</button></form>`
  return ask(
    {
      label: 'Offer ownership',
      question: `Offer ownership to ${member.email}?`,
      consequence:
        'Owners decide how members sign in, and who the owners are. The member has seven days to accept under My account. All owners get an email.',
    },
    'offer-ownership',
  )
}
