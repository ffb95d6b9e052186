-- What an organization's invitations say besides; null: nothing.
ALTER TABLE "organizations" ADD COLUMN "invitation_text" TEXT,
ADD COLUMN "reply_to" TEXT,
ADD COLUMN "sender_name" TEXT;
