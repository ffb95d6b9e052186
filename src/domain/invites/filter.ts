import type { InviteStatus } from '../../generated/prisma/client.ts'
import type { Order } from '../page.ts'

export type InviteOrder = Order<'sentAt' | 'status' | 'expiresAt' | 'createdAt'>
export type InviteFilter = {
  assessmentId?: string
  status?: InviteStatus
  tagId?: string
  /** The whole address, in either case. */
  recipientEmail?: string
  /** Each word in the recipient's address or the assessment's name. */
  search?: string
}
