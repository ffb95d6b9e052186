-- CreateTable
CREATE TABLE "secret_fingerprints" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "fingerprint" BYTEA NOT NULL,

    CONSTRAINT "secret_fingerprints_pkey" PRIMARY KEY ("id")
);
