import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Order } from '../page.ts'

export type InviteOrder = Order<'sentAt' | 'status' | 'expiresAt' | 'createdAt'>
export type InviteFilter = {
  assessmentId?: string
  status?: InviteStatus
  /** Each word in the recipient's address or the assessment's name. */
  search?: string
  /** The recipient's address, in either case. */
  recipientEmail?: string
  /** Each word in the recipient's name or address. */
  recipient?: string
  /** A tag of the invite. */
  tagId?: string
  /** The member who is to grade it. */
  assignedGraderId?: string
}
/** As much of a filter as there are kept counts and orders for: not both an assessment and a tag. */
export type CountedFilter = Pick<InviteFilter, 'assessmentId' | 'status' | 'tagId'>
