import type { Context } from '../../../domain/context.ts'
import type { OwnershipOffer } from '../../../domain/members/ownership-offers.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'

export const offerPanel = (
  ctx: Context,
  { from, expiresAt }: OwnershipOffer,
): Html => html`<section class="panel" aria-labelledby="offer-heading">
<h2 class="mb-2" id="offer-heading">Become an owner of ${ctx.organization.name}?</h2>
<p class="mb-4">${from} asks you to. Owners are admins who also decide how members sign in, and who the owners are. The offer ends ${time(expiresAt)}.</p>
<form class="flex flex-wrap gap-2" method="post" action="${pathOf(ctx, 'account/ownership')}"><button class="btn btn-primary" name="answer" value="take">Become an owner</button><button class="btn" name="answer" value="refuse">Decline</button></form>
</section>`
