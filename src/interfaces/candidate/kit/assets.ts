import { INVITATION_PATH } from '../../../domain/invites/invitation-link.ts'
import { loadAssets } from '../../../http/assets.ts'

export const assets = loadAssets(INVITATION_PATH, 'candidate')
