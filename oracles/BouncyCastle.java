/*
 * Answers requests with BouncyCastle's ciphers, block ciphers and hashes, one line for one line, until its input ends.
 *
 *     java -cp bcprov.jar BouncyCastle.java
 *
 * A request is six words: variant, output bytes, key, nonce, associated data and message, the last four in
 * hexadecimal or "-" for nothing. The answer is the ciphertext with its tag, the encrypted block, or the digest, in
 * hexadecimal; or "!" and what went wrong.
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

import org.bouncycastle.crypto.BlockCipher;
import org.bouncycastle.crypto.Digest;
import org.bouncycastle.crypto.InvalidCipherTextException;
import org.bouncycastle.crypto.Xof;
import org.bouncycastle.crypto.digests.AsconCXof128;
import org.bouncycastle.crypto.digests.AsconDigest;
import org.bouncycastle.crypto.digests.AsconHash256;
import org.bouncycastle.crypto.digests.AsconXof;
import org.bouncycastle.crypto.digests.AsconXof128;
import org.bouncycastle.crypto.digests.PhotonBeetleDigest;
import org.bouncycastle.crypto.digests.RomulusDigest;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.digests.SparkleDigest;
import org.bouncycastle.crypto.digests.XoodyakDigest;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.engines.AsconAEAD128;
import org.bouncycastle.crypto.engines.AsconEngine;
import org.bouncycastle.crypto.engines.ElephantEngine;
import org.bouncycastle.crypto.engines.GiftCofbEngine;
import org.bouncycastle.crypto.engines.Grain128AEADEngine;
import org.bouncycastle.crypto.engines.ISAPEngine;
import org.bouncycastle.crypto.engines.PhotonBeetleEngine;
import org.bouncycastle.crypto.engines.RomulusEngine;
import org.bouncycastle.crypto.engines.SparkleEngine;
import org.bouncycastle.crypto.engines.XoodyakEngine;
import org.bouncycastle.crypto.engines.XTEAEngine;
import org.bouncycastle.crypto.modes.AEADCipher;
import org.bouncycastle.crypto.modes.CCMBlockCipher;
import org.bouncycastle.crypto.modes.CCMModeCipher;
import org.bouncycastle.crypto.modes.ChaCha20Poly1305;
import org.bouncycastle.crypto.modes.GCMBlockCipher;
import org.bouncycastle.crypto.params.AEADParameters;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;

@SuppressWarnings("deprecation") // Ascon v1.2, on purpose
public final class BouncyCastle {
    private static final HexFormat HEX = HexFormat.of();

    /** The cipher of that name; null when it is none. */
    private static AEADCipher cipher(String variant) {
        return switch (variant) {
            case "asconaead128" -> new AsconAEAD128();
            case "ascon128v12" -> new AsconEngine(AsconEngine.AsconParameters.ascon128);
            case "ascon128av12" -> new AsconEngine(AsconEngine.AsconParameters.ascon128a);
            case "ascon80pqv12" -> new AsconEngine(AsconEngine.AsconParameters.ascon80pq);
            case "elephant160v2" -> new ElephantEngine(ElephantEngine.ElephantParameters.elephant160);
            case "elephant176v2" -> new ElephantEngine(ElephantEngine.ElephantParameters.elephant176);
            case "elephant200v2" -> new ElephantEngine(ElephantEngine.ElephantParameters.elephant200);
            case "giftcofb128v1" -> new GiftCofbEngine();
            case "grain128aeadv2" -> new Grain128AEADEngine();
            case "isapa128v20" -> new ISAPEngine(ISAPEngine.IsapType.ISAP_A_128);
            case "isapa128av20" -> new ISAPEngine(ISAPEngine.IsapType.ISAP_A_128A);
            case "isapk128v20" -> new ISAPEngine(ISAPEngine.IsapType.ISAP_K_128);
            case "isapk128av20" -> new ISAPEngine(ISAPEngine.IsapType.ISAP_K_128A);
            case "photonbeetleaead128rate128v1" ->
                new PhotonBeetleEngine(PhotonBeetleEngine.PhotonBeetleParameters.pb128);
            case "photonbeetleaead128rate32v1" ->
                new PhotonBeetleEngine(PhotonBeetleEngine.PhotonBeetleParameters.pb32);
            case "romulusn" -> new RomulusEngine(RomulusEngine.RomulusParameters.RomulusN);
            case "romulusm" -> new RomulusEngine(RomulusEngine.RomulusParameters.RomulusM);
            case "romulust" -> new RomulusEngine(RomulusEngine.RomulusParameters.RomulusT);
            case "schwaemm128128v1" -> new SparkleEngine(SparkleEngine.SparkleParameters.SCHWAEMM128_128);
            case "schwaemm192192v1" -> new SparkleEngine(SparkleEngine.SparkleParameters.SCHWAEMM192_192);
            case "schwaemm256128v1" -> new SparkleEngine(SparkleEngine.SparkleParameters.SCHWAEMM256_128);
            case "schwaemm256256v1" -> new SparkleEngine(SparkleEngine.SparkleParameters.SCHWAEMM256_256);
            case "xoodyakround3" -> new XoodyakEngine();
            case "aes128gcm", "aes192gcm", "aes256gcm" -> GCMBlockCipher.newInstance(AESEngine.newInstance());
            case "aes128ccm", "aes128ccm8" -> CCMBlockCipher.newInstance(AESEngine.newInstance());
            case "chacha20poly1305" -> new ChaCha20Poly1305();
            default -> null;
        };
    }

    /** The block cipher of that name; null when it is none. */
    private static BlockCipher block(String variant) {
        return switch (variant) {
            case "aes128", "aes192", "aes256" -> AESEngine.newInstance();
            case "xtea" -> new XTEAEngine();
            default -> null;
        };
    }

    /** The hash of that name; null when it is none. */
    private static Digest hash(String variant, byte[] customization) {
        return switch (variant) {
            case "asconhash256" -> new AsconHash256();
            case "asconxof128" -> new AsconXof128();
            case "asconcxof128" -> new AsconCXof128(customization);
            case "asconhashv12" -> new AsconDigest(AsconDigest.AsconParameters.AsconHash);
            case "asconhashav12" -> new AsconDigest(AsconDigest.AsconParameters.AsconHashA);
            case "asconxofv12" -> new AsconXof(AsconXof.AsconParameters.AsconXof);
            case "asconxofav12" -> new AsconXof(AsconXof.AsconParameters.AsconXofA);
            case "photonbeetlehash256rate32v1" -> new PhotonBeetleDigest();
            case "romulush" -> new RomulusDigest();
            case "esch256v1" -> new SparkleDigest(SparkleDigest.SparkleParameters.ESCH256);
            case "esch384v1" -> new SparkleDigest(SparkleDigest.SparkleParameters.ESCH384);
            case "xoodyakv1", "xoodyakround3" -> new XoodyakDigest();
            case "sha256" -> new SHA256Digest();
            default -> throw new IllegalArgumentException("no such variant");
        };
    }

    private static byte[] encrypt(AEADCipher cipher, int tag, byte[] key, byte[] nonce, byte[] ad, byte[] message)
            throws InvalidCipherTextException {
        var given = new KeyParameter(key);
        boolean sized = cipher instanceof CCMModeCipher; // others have one size of tag
        cipher.init(true, sized ? new AEADParameters(given, 8 * tag, nonce) : new ParametersWithIV(given, nonce));
        byte[] out = new byte[cipher.getOutputSize(message.length)];
        cipher.processAADBytes(ad, 0, ad.length);
        int length = cipher.processBytes(message, 0, message.length, out, 0);
        length += cipher.doFinal(out, length);
        return Arrays.copyOf(out, length);
    }

    private static byte[] digest(Digest hash, int length, byte[] message) {
        byte[] out = new byte[length];
        hash.update(message, 0, message.length);
        if (hash instanceof Xof xof) {
            xof.doFinal(out, 0, length);
        } else if (hash.getDigestSize() == length) {
            hash.doFinal(out, 0);
        } else {
            throw new IllegalArgumentException("its digest has " + hash.getDigestSize() + " bytes");
        }
        return out;
    }

    private static byte[] bytes(String word) {
        return word.equals("-") ? new byte[0] : HEX.parseHex(word);
    }

    private static String answer(String request) {
        String[] words = request.split(" ");
        byte[] key = bytes(words[2]), nonce = bytes(words[3]), ad = bytes(words[4]), message = bytes(words[5]);
        try {
            AEADCipher cipher = key.length == 0 ? null : cipher(words[0]);
            if (cipher != null) {
                return HEX.formatHex(encrypt(cipher, Integer.parseInt(words[1]), key, nonce, ad, message));
            }
            BlockCipher block = block(words[0]);
            if (block != null) {
                byte[] out = new byte[block.getBlockSize()];
                block.init(true, new KeyParameter(key));
                block.processBlock(message, 0, out, 0);
                return HEX.formatHex(out);
            }
            return HEX.formatHex(digest(hash(words[0], ad), Integer.parseInt(words[1]), message));
        } catch (RuntimeException | InvalidCipherTextException e) {
            return "! " + e;
        }
    }

    public static void main(String[] arguments) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        var out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(line));
            out.flush();
        }
    }
}
