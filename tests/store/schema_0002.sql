BEGIN TRANSACTION;
CREATE TABLE helper (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    member VARCHAR(255) NOT NULL,
    size INTEGER NOT NULL,
    CONSTRAINT pk_helper PRIMARY KEY (run_id, position),
    CONSTRAINT fk_helper_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;
INSERT INTO "helper" VALUES(1,0,'libgcc.a(_mulsi3.o)',20);
INSERT INTO "helper" VALUES(1,1,'libc.a(memcpy.o)',18);
INSERT INTO "helper" VALUES(3,0,'libgcc.a(_mulsi3.o)',20);
INSERT INTO "helper" VALUES(3,1,'libc.a(memcpy.o)',18);
INSERT INTO "helper" VALUES(4,0,'libgcc.a(_mulsi3.o)',20);
INSERT INTO "helper" VALUES(4,1,'libc.a(memcpy.o)',18);
CREATE TABLE implementation (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    primitive VARCHAR(64) NOT NULL,
    family VARCHAR(255) NOT NULL,
    variant VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    CONSTRAINT pk_implementation PRIMARY KEY (id),
    CONSTRAINT uq_implementation_identity UNIQUE (identity)
);
INSERT INTO "implementation" VALUES(1,'5a884506f89e5860c8abe83e3fc368eb3a4b4bcc99f8204296d3deef9eb06a9a','crypto_aead','ascon','ascon128v12','opt32','1111111111111111111111111111111111111111111111111111111111111111');
CREATE TABLE measurement (
    run_id INTEGER NOT NULL,
    metric VARCHAR(128) NOT NULL,
    whole BIGINT,
    fraction DOUBLE,
    CONSTRAINT pk_measurement PRIMARY KEY (run_id, metric),
    CONSTRAINT ck_measurement_one_value CHECK ((whole IS NULL) <> (fraction IS NULL)),
    CONSTRAINT fk_measurement_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;
INSERT INTO "measurement" VALUES(1,'big',4611686018427387904,NULL);
INSERT INTO "measurement" VALUES(1,'cycles_per_byte',NULL,731.5);
INSERT INTO "measurement" VALUES(1,'ratio',NULL,2.0);
INSERT INTO "measurement" VALUES(1,'rom',2048,NULL);
INSERT INTO "measurement" VALUES(1,'zero',0,NULL);
INSERT INTO "measurement" VALUES(3,'big',4611686018427387904,NULL);
INSERT INTO "measurement" VALUES(3,'cycles_per_byte',NULL,731.5);
INSERT INTO "measurement" VALUES(3,'ratio',NULL,2.0);
INSERT INTO "measurement" VALUES(3,'rom',2048,NULL);
INSERT INTO "measurement" VALUES(3,'zero',0,NULL);
INSERT INTO "measurement" VALUES(4,'big',4611686018427387904,NULL);
INSERT INTO "measurement" VALUES(4,'cycles_per_byte',NULL,731.5);
INSERT INTO "measurement" VALUES(4,'ratio',NULL,2.0);
INSERT INTO "measurement" VALUES(4,'rom',2048,NULL);
INSERT INTO "measurement" VALUES(4,'zero',0,NULL);
CREATE TABLE point (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    operation VARCHAR(16) NOT NULL,
    adlen INTEGER NOT NULL,
    mlen INTEGER NOT NULL,
    cycles BIGINT NOT NULL,
    CONSTRAINT pk_point PRIMARY KEY (run_id, position),
    CONSTRAINT fk_point_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;
INSERT INTO "point" VALUES(1,0,'encrypt',0,16,12345);
INSERT INTO "point" VALUES(1,1,'decrypt',0,16,1099511627776);
INSERT INTO "point" VALUES(1,2,'encrypt',0,16,12346);
INSERT INTO "point" VALUES(3,0,'encrypt',0,16,12345);
INSERT INTO "point" VALUES(3,1,'decrypt',0,16,1099511627776);
INSERT INTO "point" VALUES(3,2,'encrypt',0,16,12346);
INSERT INTO "point" VALUES(4,0,'encrypt',0,16,12345);
INSERT INTO "point" VALUES(4,1,'decrypt',0,16,1099511627776);
INSERT INTO "point" VALUES(4,2,'encrypt',0,16,12346);
CREATE TABLE run (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    setup_id INTEGER NOT NULL,
    reason VARCHAR(64),
    detail TEXT,
    verified_with VARCHAR(64),
    vectors INTEGER,
    ext_vectors INTEGER,
    skipped INTEGER,
    notes TEXT NOT NULL,
    origin TEXT NOT NULL,
    log VARCHAR(64) NOT NULL,
    host VARCHAR(255) NOT NULL,
    seconds DOUBLE NOT NULL,
    finished BIGINT,
    seed VARCHAR(64),
    answers VARCHAR(64),
    CONSTRAINT fk_run_setup_id FOREIGN KEY(setup_id) REFERENCES setup (id)
);
INSERT INTO "run" VALUES(1,1,NULL,NULL,'package',1089,0,3,'["api.h lies one level up", "gr\u00f6\u00dfer als n\u00f6tig \u2211 \ud83d\ude42"]','','5555555555555555555555555555555555555555555555555555555555555555','bench',1.25,1774749599123456,'größer','6666666666666666666666666666666666666666666666666666666666666666');
INSERT INTO "run" VALUES(2,2,'fault','at 0x12',NULL,NULL,NULL,NULL,'[]','','','bench',1.25,NULL,NULL,NULL);
INSERT INTO "run" VALUES(3,3,NULL,NULL,'package',1089,0,3,'["api.h lies one level up", "gr\u00f6\u00dfer als n\u00f6tig \u2211 \ud83d\ude42"]','','5555555555555555555555555555555555555555555555555555555555555555','bench',1.25,1774749599123456,'größer',NULL);
INSERT INTO "run" VALUES(4,1,NULL,NULL,'package',1089,0,3,'["api.h lies one level up", "gr\u00f6\u00dfer als n\u00f6tig \u2211 \ud83d\ude42"]','','5555555555555555555555555555555555555555555555555555555555555555','bench',2.5,1774749599123456,'größer','6666666666666666666666666666666666666666666666666666666666666666');
CREATE TABLE setup (
    id INTEGER NOT NULL,
    "key" VARCHAR(64) NOT NULL,
    implementation_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    toolchain_id INTEGER NOT NULL,
    device VARCHAR(255) NOT NULL,
    flags TEXT NOT NULL,
    workload TEXT NOT NULL,
    harness VARCHAR(255) NOT NULL,
    timing_model VARCHAR(255) NOT NULL,
    CONSTRAINT pk_setup PRIMARY KEY (id),
    CONSTRAINT uq_setup_key UNIQUE ("key"),
    CONSTRAINT fk_setup_implementation_id FOREIGN KEY(implementation_id) REFERENCES implementation (id),
    CONSTRAINT fk_setup_target_id FOREIGN KEY(target_id) REFERENCES target (id),
    CONSTRAINT fk_setup_toolchain_id FOREIGN KEY(toolchain_id) REFERENCES toolchain (id)
);
INSERT INTO "setup" VALUES(1,'b8f77a0191ea82e5f63d32eb17dc46dfaa30a323fe5e848da26fdcd9e633cb09',1,1,1,'simulator','-O2','sizes','4444444444444444444444444444444444444444444444444444444444444444','avr-1');
INSERT INTO "setup" VALUES(2,'c3b4f0eecbf5d2a0ff5e3cedecaad48f7b907441592625ab29aab5368b3812b9',1,1,1,'simulator','-Os','sizes','4444444444444444444444444444444444444444444444444444444444444444','avr-1');
INSERT INTO "setup" VALUES(3,'b930ffe59b01531748d7ae659e88ca7e74f0d20e704707ed3bbbf330f13f9b06',1,2,1,'simulator','-O2','sizes','4444444444444444444444444444444444444444444444444444444444444444','avr-1');
CREATE TABLE steelyard_revision (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT steelyard_revision_pkc PRIMARY KEY (version_num)
);
INSERT INTO "steelyard_revision" VALUES('0002');
CREATE TABLE target (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    name VARCHAR(255) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    CONSTRAINT pk_target PRIMARY KEY (id),
    CONSTRAINT uq_target_identity UNIQUE (identity)
);
INSERT INTO "target" VALUES(1,'cdfdce007c977cb3daf19eaa9c39d1cc35245fb41a6a2bdb15c5f798a738ad44','uno','2222222222222222222222222222222222222222222222222222222222222222');
INSERT INTO "target" VALUES(2,'8bd3498ba8b2accd59169ab7591af0960114927ddd9fba68f7d0773606716464','bluepill','2222222222222222222222222222222222222222222222222222222222222222');
CREATE TABLE toolchain (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    name VARCHAR(255) NOT NULL,
    version VARCHAR(255) NOT NULL,
    sha256 VARCHAR(64) NOT NULL,
    CONSTRAINT pk_toolchain PRIMARY KEY (id),
    CONSTRAINT uq_toolchain_identity UNIQUE (identity)
);
INSERT INTO "toolchain" VALUES(1,'4f52cf7fd3f86544237465f86e3421f6096e9f5754796a6c5bcce619c7e3e276','avr-gcc','avr-gcc (GCC) 5.4.0','3333333333333333333333333333333333333333333333333333333333333333');
CREATE INDEX ix_implementation_variant ON implementation (variant);
CREATE INDEX ix_setup_implementation_id ON setup (implementation_id);
CREATE INDEX ix_setup_target_id ON setup (target_id);
CREATE INDEX ix_run_setup_id_id ON run (setup_id, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run',4);
COMMIT;
