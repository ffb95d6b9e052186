import { INVITATION_PATH } from '../../domain/invites/links.ts'
import { loadAssets } from '../../http/assets.ts'

export const assets = loadAssets(INVITATION_PATH, 'candidate')
